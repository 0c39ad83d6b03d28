"""Messages whose rows the table does not take: a text is too long, a CHECK constraint is violated, a row cannot be
taken back.

A write says so of all of its rows. Halves of them are checked again until the rows are found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from tablestore_engine.errors import ConstraintError, RowKindError, SchemaError
from tablestore_engine.kafka.decode_messages import Decoded
from tablestore_engine.kafka.from_json.json_parse import BadRecord
from tablestore_engine.operation.write.align_columns import table_rows
from tablestore_engine.operation.write.check_constraints import RowConditions
from tablestore_engine.operation.write.write_task import accepted_records
from tablestore_engine.table_state import TableState

REFUSED = (ConstraintError, RowKindError, SchemaError)
"""The errors that a write raises because of such rows."""


def with_refused_as_bad(state: TableState, found: Decoded, rows: pa.Table) -> Decoded:
    """The same changes; those are bad whose `rows`, which are those of `found` with their kinds, the table refuses.

    Raises:
        SchemaError: a CHECK constraint that only Spark evaluates.
    """
    conditions = RowConditions(state)

    def check(part: pa.Table) -> None:
        accepted_records(conditions.check(table_rows(part, state.schema)), state.schema)

    reasons: dict[int, str] = {}
    for at, reason in _refused(rows, check):
        reasons.setdefault(int(found.positions[at]), reason)
    return found.without([BadRecord(position, reason) for position, reason in reasons.items()])


def _refused(rows: pa.Table, check: Callable[[pa.Table], None]) -> Iterator[tuple[int, str]]:
    """The rows that a check refuses, and what it says of them."""
    spans = [(0, rows.num_rows)] if rows.num_rows else []
    while spans:
        start, count = spans.pop()
        try:
            check(rows.slice(start, count))
        except REFUSED as error:
            if count == 1:
                yield start, error.message.rstrip(".")
            else:
                half = count // 2
                spans += [(start + half, count - half), (start, half)]
