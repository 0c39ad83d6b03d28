"""Sums of which a part does not fit the column's type, and the whole does: no compaction fails for it."""

from __future__ import annotations

import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.tables import by_key, compact_newest, keyed_table, write

from tablestore_engine.errors import ExecutionError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import run_next

NOW = 1_800_000_000_000
MUCH = 2_000_000_000


@pytest.fixture(params=["sum", "product"])
def function(request):
    return request.param


@pytest.fixture
def large(tmp_path, function):
    """A table of one large run."""
    options = {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": function}
    found = keyed_table(tmp_path, {**options, "write-only": "true"})
    write(found, [{"id": 1, "v": -MUCH if function == "sum" else 0}, *({"id": n, "v": n} for n in range(2, 5_000))])
    return found


@pytest.fixture
def table(large):
    """Two small runs above it that do not fit together, unless they meet the row of key 1 in it."""
    found = large
    for _ in range(2):
        write(found, [{"id": 1, "v": MUCH}, {"id": 9_999, "v": 7}])
    return found


def check(table, function):
    rows = by_key(table)
    assert rows[1]["v"] == (MUCH if function == "sum" else 0)
    assert rows[9_999]["v"] == (14 if function == "sum" else 49)
    assert len(rows) == 5_000
    check_invariants(table)


def test_sums_that_do_not_fit_alone_are_merged_with_the_rest(table, function):
    assert compact_newest(table, 2).commit_kind == "COMPACT"
    assert [e.file.level for e in table.live_files()] == [table.options.num_levels - 1]
    check(table, function)


def test_sums_that_fit_alone_are_merged_alone(large, function):
    before = {e.file.file_name for e in large.live_files()}
    write(large, [{"id": 1, "v": MUCH}])
    write(large, [{"id": 1, "v": 1}])
    compact_newest(large, 2)
    assert before < {e.file.file_name for e in large.live_files()}
    assert len(large.live_files()) == 2
    assert by_key(large)[1]["v"] == (1 if function == "sum" else 0)


def test_a_plan_finds_the_rest_when_it_is_carried_out(table, function):
    assert schedule(table.state, "minor", NOW) is not None
    write(table, [{"id": 4_999, "v": 1}])
    assert run_next(table.state, "me", lambda: NOW).outcome.state is PlanState.COMPLETED
    assert len(table.live_files()) == 1
    assert by_key(table)[4_999]["v"] == (5_000 if function == "sum" else 4_999)


def test_sums_that_never_fit_are_an_error(table, function):
    write(table, [{"id": 2, "v": MUCH}])
    write(table, [{"id": 2, "v": MUCH}])
    with pytest.raises(ExecutionError, match=f"The {function} of column 'v' does not fit its type, int32"):
        compact_newest(table, 2)
    assert live_paths(table) == data_files(table)
