"""Errors that plans raise by `raise_error` are those of the engine, with their message alone."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import (
    CastError,
    ConstraintError,
    ExecutionError,
    NegativeCountError,
    PrimaryKeyError,
    RowKindError,
    SchemaError,
    SqlError,
)
from tablestore_engine.spark.errors.raised_errors import raised_error
from tablestore_engine.spark.errors.translate_errors import failure


@pytest.mark.parametrize(
    ("message", "kind", "hint"),
    [
        ("A row was removed more often than it was added, in table d.t (total -1): {'v': '1'}.", NegativeCountError, 1),
        ("An older file holds a value that cannot be cast to what is now the type of its column: …", CastError, 1),
        ("Column 'a.b' (decimal(5,2)) cannot hold the value 'x\ny SQLSTATE: P0001 z'.", SchemaError, 1),
        ("A row violates the CHECK constraint c (v > 0): v = 0.", ConstraintError, 1),
        ("A row violates the NOT NULL constraint of column id: id = null.", ConstraintError, 1),
        ("A row of the query does not match REPLACE WHERE v > 0.", ConstraintError, 1),
        ("Unknown row kind: x.", RowKindError, 1),
        ("MERGE would change column 'id', which belongs to the primary key, of a matched row.", PrimaryKeyError, 1),
        ("Column 'a' is not read, because the query does not name it.", SqlError, 1),
        ("the user's own", ExecutionError, 0),
        ("a check: Unknown row kind: x.", ExecutionError, 0),
        ("", ExecutionError, 0),
    ],
)
def test_messages(message, kind, hint):
    found = failure(
        "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times, most recent failure: Lost task 0.0 in "
        "stage 1.0 (TID 5) (localhost executor driver): org.apache.spark.SparkRuntimeException: "
        f"[USER_RAISED_EXCEPTION] {message} SQLSTATE: P0001\n\tat org.apache.spark.sql.X.y(X.scala:1)"
    )
    assert (type(found), found.message, bool(found.hint)) == (kind, message, bool(hint))


def test_other_messages_are_left():
    assert raised_error("[DIVIDE_BY_ZERO] Unknown row kind: x. SQLSTATE: 22012") is None
