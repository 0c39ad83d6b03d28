"""The statements and words of `dbt run-operation`."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.models.run_operation import call_sql, report


def test_calls():
    assert call_sql("compact", "s.t", {"partitions": None}) == "call sys.compact(table => 's.t')"
    given = {"retain_max": 5, "older_than": datetime(2024, 1, 31, 8), "dry_run": True, "tag": "it's"}
    assert call_sql("any", "s.t", given) == (
        "call sys.any(table => 's.t', retain_max => 5, older_than => '2024-01-31 08:00:00', dry_run => TRUE,"
        " tag => 'it\\'s')"
    )
    assert call_sql("any", "s.t", {"older_than": date(2024, 1, 31)}).endswith("older_than => '2024-01-31')")
    with pytest.raises(DbtRuntimeError, match="tag of create_tag is a text"):
        call_sql("create_tag", "s.t", {"tag": ["a"]})


@pytest.mark.parametrize(
    ("procedure", "columns", "rows", "lines"),
    [
        ("compact", ["compacted"], [(True,)], ["compact s.t: compacted"]),
        ("compact", ["compacted"], [(False,)], ["compact s.t: nothing to compact"]),
        (
            "expire_snapshots",
            ["deleted_snapshots_count"],
            [(1,)],
            ["expire_snapshots s.t: 1 snapshot expired"],
        ),
        ("create_tag", ["result"], [(True,)], ["create_tag s.t: done"]),
        ("reset_consumer", ["result"], [(False,)], ["reset_consumer s.t: nothing to do"]),
        (
            "rollback",
            ["previous_snapshot_id", "rolled_back_snapshot_id", "current_snapshot_id"],
            [(4, 2, 5)],
            ["rollback s.t: snapshot 5 has the rows of snapshot 2 again"],
        ),
        (
            "rollback",
            ["previous_snapshot_id", "rolled_back_snapshot_id", "current_snapshot_id"],
            [(4, 2, 4)],
            ["rollback s.t: it has the rows of snapshot 2 already"],
        ),
        (
            "expire_partitions",
            ["expired_partitions"],
            [("dt=1",), ("dt=2",)],
            ["expire_partitions s.t: 2 expired partitions", "  dt=1", "  dt=2"],
        ),
        ("remove_orphan_files", ["path"], [], ["remove_orphan_files s.t: 0 paths"]),
        ("other", ["a", "b"], [(1, "x")], ["other s.t: a 1, b x"]),
    ],
)
def test_reports(procedure, columns, rows, lines):
    assert report(procedure, "s.t", columns, rows) == lines


def test_a_long_list_is_cut():
    lines = report("remove_orphan_files", "s.t", ["path"], [(str(n),) for n in range(25)])
    assert len(lines) == 22
    assert lines[-1] == "  … and 5 more"
