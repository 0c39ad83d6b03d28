"""Changes that take away a row which a table without a key does not have: their messages hold a part of it only.

Such a change would make the table unreadable, so its message is a bad one, with all of its rows. Messages that take
away what a bad one would have added are bad as well. The order of the messages does not matter: a row may be added
behind the change that takes it away.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tablestore_engine.kafka.decode_messages import Decoded
from tablestore_engine.kafka.from_json.json_parse import BadRecord
from tablestore_engine.kafka.message_formats import BEFORE, DELETE
from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import Numbers, first_rows, row_ids
from tablestore_engine.operation.read.row_copies import copies_of
from tablestore_engine.operation.scan.plan_scan import plan_scan
from tablestore_engine.operation.write.align_columns import table_rows
from tablestore_engine.operation.write.bucket_assignment import partitions_of
from tablestore_engine.table_state import TableState

_SHOWN = 200


def with_unmatched_as_bad(state: TableState, found: Decoded) -> Decoded:
    """The same changes of a table; those are bad that take away rows which it does not have now, and gets by no
    other."""
    retracts = np.isin(found.kinds, (BEFORE, DELETE))
    if state.schema.primary_keys or not retracts.any():
        return found
    rows = table_rows(found.rows, state.schema)
    ids = row_ids([one_array(one) for one in rows.columns], rows.num_rows)
    totals = np.bincount(ids, np.where(retracts, -1, 1)).astype(np.int64)
    short = np.flatnonzero(totals < 0)
    first = first_rows(ids)
    if not len(short) or (totals[short] + _copies(state, rows.take(pa.array(first[short]))) >= 0).all():
        return found
    removed = np.unique(ids[retracts])
    totals[removed] += _copies(state, rows.take(pa.array(first[removed])))
    reasons = _messages_to_leave_out(_Rows(ids, retracts, found.positions), totals)
    return found.without([BadRecord(position, _reason(rows, int(first[one]))) for position, one in reasons.items()])


def _copies(state: TableState, rows: pa.Table) -> Numbers:
    """How often the table has each of some rows."""
    latest = state.snapshots.latest()
    plan = plan_scan(state, latest, named=partitions_of(rows, state.schema))
    return copies_of(state, plan.buckets, rows)


class _Rows:
    """Changed rows by their numbers: which of them retract, and the message of each, in ascending order."""

    def __init__(self, ids: Numbers, retracts: npt.NDArray[np.bool_], messages: Numbers) -> None:
        self.ids, self.retracts, self.messages = ids, retracts, messages

    def of(self, message: int) -> list[tuple[int, int]]:
        """The rows of a message, each with what it adds to the count."""
        begin, end = np.searchsorted(self.messages, [message, message + 1])
        signs = np.where(self.retracts[begin:end], -1, 1)
        return list(zip(self.ids[begin:end].tolist(), signs.tolist(), strict=True))

    def retractions(self) -> dict[int, list[int]]:
        """The messages that retract each row."""
        found: dict[int, list[int]] = defaultdict(list)
        at = np.flatnonzero(self.retracts)
        for one, message in zip(self.ids[at].tolist(), self.messages[at].tolist(), strict=True):
            found[one].append(message)
        return found


def _messages_to_leave_out(rows: _Rows, totals: Numbers) -> dict[int, int]:
    """The messages without which no row is removed more often than it is there, each with the row that it lacks.

    `totals` say of each row that is retracted how often it is there after all messages.
    """
    left, counts = rows.retractions(), dict(enumerate(totals.tolist()))
    found: dict[int, int] = {}
    short = [one for one, count in counts.items() if count < 0]
    while short:
        one = short[-1]
        if counts[one] >= 0 or not left.get(one):
            short.pop()
            continue
        message = left[one].pop()
        if message in found:
            continue
        found[message] = one
        for other, added in rows.of(message):
            counts[other] -= added
            if counts[other] < 0 and other != one:
                short.append(other)
    return found


def _reason(rows: pa.Table, at: int) -> str:
    shown = str(rows.slice(at, 1).to_pylist()[0])
    return f"it removes a row that the table does not have, {shown[:_SHOWN]}{'…' if len(shown) > _SHOWN else ''}"
