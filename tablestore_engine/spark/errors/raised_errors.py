"""Errors that plans raise by Spark's `raise_error`, as this engine's: the message alone, without Spark's frame.

A plan fails for a row by this function. Each message of the engine that is more than an ExecutionError is declared here
by how it begins, with its error and the hint, which the plan leaves out. Any other message is the user's own.
"""

from __future__ import annotations

import re
from typing import Final

from tablestore_engine.errors import (
    CastError,
    ConstraintError,
    ExecutionError,
    NegativeCountError,
    PrimaryKeyError,
    RowKindError,
    SchemaError,
    SqlError,
    TableStoreError,
)
from tablestore_engine.mergetree.multiset.multiset import NEGATIVE, NEGATIVE_HINT
from tablestore_engine.schema.casts.cast_old_columns import CAST_FAILED, CAST_HINT
from tablestore_engine.schema.table.check_constraints import (
    NULL_VIOLATED,
    NULL_VIOLATED_HINT,
    VIOLATED,
    VIOLATED_HINT,
)
from tablestore_engine.schema.table.row_kind import KINDS_HINT, UNKNOWN_KIND
from tablestore_engine.spark.expressions.cast_old_columns_sql import NOT_READ, NOT_READ_HINT
from tablestore_engine.spark.expressions.checked_cast import NOT_HELD, NOT_HELD_HINT

NOT_REPLACED: Final = "A row of the query does not match REPLACE WHERE "
CHANGED_KEY: Final = "MERGE would change column "

_RAISED: Final[tuple[tuple[re.Pattern[str], type[TableStoreError], str], ...]] = (
    (re.compile(re.escape(NEGATIVE)), NegativeCountError, NEGATIVE_HINT),
    (re.compile(re.escape(CAST_FAILED)), CastError, CAST_HINT),
    (NOT_HELD, SchemaError, NOT_HELD_HINT),
    (NOT_READ, SqlError, NOT_READ_HINT),
    (re.compile(re.escape(VIOLATED)), ConstraintError, VIOLATED_HINT),
    (re.compile(re.escape(NULL_VIOLATED)), ConstraintError, NULL_VIOLATED_HINT),
    (re.compile(re.escape(NOT_REPLACED)), ConstraintError, "Nothing was written. Filter the query by the condition."),
    (re.compile(re.escape(UNKNOWN_KIND)), RowKindError, KINDS_HINT),
    (
        re.compile(re.escape(CHANGED_KEY)),
        PrimaryKeyError,
        "Nothing was written. Delete the row and insert it under its new key, or match rows by the whole key.",
    ),
)
_FRAME: Final = "[USER_RAISED_EXCEPTION] "
_STATE: Final = " SQLSTATE: P0001"


def raised_error(message: str) -> TableStoreError | None:
    """The error for a message of Spark that has one of `raise_error`; None for another one."""
    _, frame, text = message.partition(_FRAME)
    if not frame:
        return None
    if _STATE in text:
        text = text.rpartition(_STATE)[0]
    found = ((kind, hint) for begins, kind, hint in _RAISED if begins.match(text))
    kind, hint = next(found, (ExecutionError, None))
    return kind(text, hint=hint)
