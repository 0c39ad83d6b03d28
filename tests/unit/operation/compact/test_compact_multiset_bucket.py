"""Tables that store retractions, through what else happens to a table: rollback, time travel, plans, added columns."""

from __future__ import annotations

from collections import Counter

import pytest
from support.files import data_files, holds_retractions, kept_paths
from support.invariants import check_invariants
from support.scheduled import LATER, NOW, run
from support.tables import DELETE, arrow_rows, compact, execute_and_die, make_table, read

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import NegativeCountError
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type

PUT = 0
COUNTS = {"merge-engine": "tablestore-count"}
COLLECTS = {"merge-engine": "aggregation", "fields.v.aggregate-function": "collect", "bucket": "1"}
LIST = {"type": "ARRAY", "element": "STRING"}


def multiset(tmp_path, **options):
    return make_table(tmp_path, {"a": "INT", "b": "STRING"}, options=COUNTS | options)


def collecting(tmp_path, **options):
    return make_table(tmp_path, {"id": "INT", "v": LIST}, ["id"], options=COLLECTS | options)


def add(table, *rows):
    """Rows are added, or, where they begin with a minus, taken back."""
    names = list(table.schema.field_names)
    kinds = [DELETE if row[0] == "-" else PUT for row in rows]
    given = [dict(zip(names, row[1:] if row[0] == "-" else row, strict=False)) for row in rows]
    return table.write(arrow_rows(table.schema, given, kinds))


def held(table, snapshot=None):
    """How often each row is there."""
    return Counter(tuple(map(str, row.values())) for row in read(table, snapshot=snapshot))


def added_column(table, name="n", kind="INT"):
    catalog = Catalog(table.path.rsplit("/", 2)[0])
    return catalog.alter_table(*table.identifier, [AddColumn(name, parse_type(kind))])


@pytest.mark.parametrize("kind", ["multiset", "collecting"])
def test_rolling_back_and_going_on(tmp_path, kind):
    if kind == "multiset":
        table = multiset(tmp_path)
        steps = [[(1, "x"), (2, "y"), (2, "y")], [("-", 2, "y")], [("-", 1, "x"), (3, "z")]]
        more, end = [("-", 2, "y"), (4, "w")], {("1", "x"): 1, ("4", "w"): 1}
    else:
        table = collecting(tmp_path)
        steps = [[(1, ["x"]), (2, ["y", "y"])], [("-", 2, ["y"])], [("-", 1, ["x"]), (3, ["z"])]]
        more, end = [("-", 2, ["y"]), (4, ["w"])], {("1", "['x']"): 1, ("2", "[]"): 1, ("4", "['w']"): 1}
    states = [held(table, add(table, *rows)) for rows in steps]
    compact(table)
    assert not holds_retractions(table)
    table.create_tag("all", 3)
    plan = schedule(table.state, "full", NOW)
    assert plan is None, "one run is left"
    assert table.roll_back(2).id == 5
    assert holds_retractions(table), "as they were"
    assert held(table) == states[1]
    check_invariants(table)
    assert [held(table, table.version(v)) for v in (1, 2, 3, 4, "all")] == [*states, states[2], states[2]]
    add(table, *more)
    assert held(table) == end
    # What is planned now is void after the next rollback, where that brings files back.
    assert schedule(table.state, "full", NOW) is not None
    table.roll_back("all")
    assert held(table) == states[2]
    assert run(table).outcome.state is PlanState.CANCELLED
    assert table.roll_back(6) is not None
    table.expire_snapshots(Retention(1, 1, 0, 1_000))
    assert held(table) == end
    assert held(table, table.version("all")) == states[2]
    compact(table)
    assert held(table) == end
    assert not holds_retractions(table)
    check_invariants(table)


def test_rows_that_come_after_their_retraction_was_planned(tmp_path):
    """A plan that was made of all files must not take that for granted when it runs."""
    table = multiset(tmp_path)
    add(table, (1, "x"))
    add(table, ("-", 2, "y"))  # which nobody has added yet
    with pytest.raises(NegativeCountError):
        read(table)
    plan = schedule(table.state, "full", NOW)
    assert [group.output.drop_deletes for group in plan.groups] == [True]
    add(table, (2, "y"), (2, "y"))
    assert run(table).outcome.state is PlanState.COMPLETED
    assert [is_retraction(e.file) for e in table.live_files()].count(True) == 1, "it waits for all files"
    assert held(table) == {("1", "x"): 1, ("2", "y"): 1}
    compact(table)
    assert not holds_retractions(table)
    assert held(table) == {("1", "x"): 1, ("2", "y"): 1}


def test_a_runner_of_a_multiset_table_that_dies(tmp_path):
    table = multiset(tmp_path)
    for n in range(3):
        add(table, (n, "x"), (n, "x"))
        add(table, ("-", n, "x"))
    assert schedule(table.state, "full", NOW) is not None

    with pytest.raises(KeyboardInterrupt):
        run(table, execute=execute_and_die)
    add(table, ("-", 0, "x"), (7, "late"))
    assert run(table, LATER).outcome.state is PlanState.COMPLETED
    expected = {("1", "x"): 1, ("2", "x"): 1, ("7", "late"): 1}
    assert held(table) == expected
    assert data_files(table) == kept_paths(table)
    compact(table)
    assert held(table) == expected
    check_invariants(table)


@pytest.mark.parametrize("full", [False, True], ids=["read", "compacted"])
def test_taking_back_what_was_written_before_a_column_was_added(tmp_path, full):
    table = multiset(tmp_path)
    add(table, (1, "x"), (2, "y"), (2, "y"))
    add(table, ("-", 2, "y"))
    wider = added_column(table)
    add(wider, ("-", 1, "x", None), (2, "y", 5), (3, "z", None))
    add(wider, ("-", 2, "y", None))
    if full:
        compact(wider)
        assert not holds_retractions(wider)
    assert held(wider) == {("2", "y", "5"): 1, ("3", "z", "None"): 1}
    add(wider, ("-", 2, "y", 5))
    assert held(wider) == {("3", "z", "None"): 1}
    before = wider.latest_snapshot().id
    add(wider, ("-", 1, "x", 5))
    for action in (read, compact):
        with pytest.raises(NegativeCountError, match=rf"in table {wider.state.name} \(total -1\)"):
            action(wider)
    wider.roll_back(before)
    assert held(wider) == {("3", "z", "None"): 1}
    check_invariants(wider)


@pytest.mark.parametrize("full", [False, True], ids=["read", "compacted"])
def test_a_column_with_a_function_is_added_to_an_aggregation(tmp_path, full):
    table = collecting(tmp_path)
    add(table, (1, ["a", "b"]), (2, ["z"]))
    add(table, ("-", 1, ["a"]))
    wider = added_column(table)
    add(wider, (1, ["c"], 5), (3, ["n"], 1))
    add(wider, ("-", 1, ["b"], None), ("-", 2, ["z"], 4))
    if full:
        compact(wider)
    rows = {row["id"]: (row["v"], row["n"]) for row in read(wider)}
    assert rows == {1: (["c"], 5), 2: ([], None), 3: (["n"], 1)}
    check_invariants(wider)
