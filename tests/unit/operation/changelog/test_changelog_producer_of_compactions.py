"""What compactions record does not depend on who compacts: on its statement, or on when it loaded the table."""

from __future__ import annotations

import pytest
from support.tables import compact, keyed_table, reload, rows, write

from tablestore_engine.errors import OptionError
from tablestore_engine.operation.compact.auto_compaction import merge_unread

VECTORS = {"deletion-vectors.enabled": "true", "bucket": "1"}
LOOKUP = {**VECTORS, "changelog-producer": "lookup"}
UNTRACKED = {"change-tracking": "false"}


def recorded(table, after=0):
    """The recorded changes, as (kind, *values)."""
    table = reload(table)
    return [tuple(row.values()) for row in table.changes(after, recorded=True).to_pylist()]


@pytest.mark.parametrize(
    "hint",
    [
        UNTRACKED,
        {"changelog-producer": "none"},
        {"changelog-producer.row-deduplicate": "false"},
        {"changelog-producer.row-deduplicate-ignore-fields": "v"},
    ],
    ids=str,
)
def test_a_statement_cannot_choose_what_compactions_of_new_rows_record(catalog, hint):
    """The rows of others that wait are merged with its own."""
    table = keyed_table(catalog, LOOKUP)
    with pytest.raises(OptionError, match="compactions of new rows record"):
        table.with_options(hint, "statement")
    table.with_options({"changelog-producer": "lookup", "target-file-size": "1 mb"}, "statement")


def test_a_statement_may_record_nothing_where_its_own_commit_records(catalog):
    table = keyed_table(catalog, {**VECTORS, "changelog-producer": "input"})
    write(table, rows([1], 1))
    write(table.with_options(UNTRACKED, "statement"), rows([2], 2))
    merge_unread(table.with_options(UNTRACKED, "statement").state)
    assert recorded(table) == [("+I", 1, 1)]
    with pytest.raises(OptionError, match="compactions of new rows record"):
        table.with_options({"changelog-producer": "lookup"}, "statement")


def test_a_full_compaction_by_an_untracked_statement_records_the_changes_of_others(catalog):
    table = keyed_table(catalog, {"bucket": "1", "changelog-producer": "full-compaction"})
    write(table, rows([1], 1))
    write(table, rows([1, 2], 2))
    hinted = table.with_options(UNTRACKED, "statement")
    write(hinted, rows([3], 3))
    compact(hinted)
    assert sorted(recorded(table)) == [("+I", 1, 1), ("+I", 2, 2), ("+I", 3, 3), ("+U", 1, 2), ("-U", 1, 1)]
