"""Random histories of a table against a dictionary.

A history is a list of steps (see `player`): writes of all row kinds, with late sequence values, at once, through the
write buffer or in flight while others come; compactions of any runs, scheduled ones too; overwrites and truncations.
After each step the table, read back by `Table.to_arrow`, equals a naive fold of all rows in order, whatever was
compacted when; the invariants of the format hold for every live file; and in the end each snapshot reads as on its day.

`TABLESTORE_SOAK=2000 pytest tests/property` (the make target is `make soak`) plays that many histories per test.
"""

from __future__ import annotations

from hypothesis import given
from support.histories import PROFILE, histories, made, shown
from support.player import play
from support.scratch import scratch_directory


def deduplicated(keys, options):
    """The fold of a table with a key: of each the last row; one that a -U or -D takes back keeps its sequence."""
    field, descending = options.get("sequence.field"), options.get("sequence.field.sort-order") == "descending"

    def wins(new, old):
        """Whether a sequence value comes at or after the old one; null comes before all."""
        if new is None or old is None:
            return old is None
        return new <= old if descending else new >= old

    def fold(records):
        rows = {}
        for row, kind in records:
            key = tuple(row[k] for k in keys)
            if key not in rows or not field or wins(row[field], rows[key][0][field]):
                rows[key] = (row, kind)
        return [row for row, kind in rows.values() if kind in (0, 2)]

    return fold


@PROFILE
@given(histories(keyed=True))
def test_keyed_tables(history):
    (columns, keys, _, options), steps, _ = history
    with scratch_directory("history-") as directory:
        play(made(directory, history), steps, deduplicated(keys, options), shown(columns))


@PROFILE
@given(histories(keyed=False))
def test_append_tables(history):
    (columns, *_), steps, _ = history
    with scratch_directory("history-") as directory:
        play(made(directory, history), steps, lambda records: [row for row, _ in records], shown(columns))
