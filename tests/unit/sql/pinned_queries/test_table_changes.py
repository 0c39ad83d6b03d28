"""Few changes of a table are held for the statement, and other rows are looked up by their values."""

from __future__ import annotations

from itertools import combinations
from random import Random
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from support.tables import keyed_table, make_table, rows, write

from tablestore_engine.operation.changelog import arrow_changes
from tablestore_engine.operation.changelog.change_plan import plan_changes
from tablestore_engine.spark.changelog import change_frame
from tablestore_engine.spark.read import lookup_rows, merge_source_bounds
from tablestore_engine.sql.pinned_queries import joined_rows as module
from tablestore_engine.sql.pinned_queries.joined_rows import joined_rows
from tablestore_engine.sql.pinned_queries.pinned_query import Frames
from tablestore_engine.sql.pinned_queries.table_frames import TableRead
from tablestore_engine.sql.query.bind import references

MODEL = """
select _row_kind, id, v from (
  select c._row_kind, c.id, o.v
  from (select * from table_changes('`default`.`few`', 1, 2)) c
  join (select * from `default`.`big` version as of 1) o on o.id = c.id
) as dbt_source
"""


@pytest.fixture
def tables(monkeypatch, catalog):
    """A large table, and one of which two of some rows changed."""
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 0)
    monkeypatch.setattr(module.parquet_file, "PAGE_ROWS", 1)
    monkeypatch.setattr(module, "frame_of_rows", lambda spark, found, schema: found.to_pylist())
    big, few = (keyed_table(catalog, {"bucket": "1"}, name=name) for name in ("big", "few"))
    write(big, rows(range(100)))
    write(few, rows(range(10)))
    write(few, [*rows([3, 5], v=1), *rows([7])])
    return big, few


def looked_up(catalog, big, query):
    frames = Frames(Mock(**{"catalog.tableExists.return_value": False}), catalog, "default", settings={})
    (reference,) = (one for one in references(query) if one.name == "big")
    scan = TableRead(big, big.latest_snapshot(), big.schema, reference)
    return joined_rows(SimpleNamespace(), scan, frames._source_of)


def test_a_model_of_changes_reads_the_rows_with_their_keys(catalog, tables, monkeypatch):
    big, _ = tables
    read = []

    def recorded(*args):
        read.append(args[2].values.to_pylist())
        return lookup_rows.rows_of_keys(*args)

    monkeypatch.setattr(module, "rows_of_keys", recorded)
    found, _ = looked_up(catalog, big, MODEL)
    assert found == [{"id": 3, "v": 0}, {"id": 5, "v": 0}]
    assert {key["id"] for keys in read for key in keys} == {3, 5}, "row 7 was written as it was"


def test_no_changes_read_no_rows(catalog, tables):
    big, _ = tables
    assert looked_up(catalog, big, MODEL.replace("1, 2", "2, 2")) is None, "Spark reads all rows of no files"
    write(tables[1], rows([9]))
    found, _ = looked_up(catalog, big, MODEL.replace("1, 2", "2, 3"))
    assert found == []


def test_many_changes_and_small_tables_are_left_to_spark(catalog, tables, monkeypatch):
    big, few = tables
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 1000)
    computed = Mock()
    with monkeypatch.context() as patched:
        patched.setattr("tablestore_engine.sql.pinned_queries.table_changes.few_changes", computed)
        assert looked_up(catalog, big, MODEL) is None
    computed.assert_not_called()
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 0)
    write(few, rows(range(90), v=2))
    assert looked_up(catalog, big, MODEL.replace("1, 2", "2, 3")) is None, "most pages hold a key"


def test_only_the_columns_that_a_query_names_are_read(catalog, monkeypatch):
    table = make_table(catalog, {"id": "INT", "v": "INT", "w": "INT"}, ["id"], options={"bucket": "2"}, name="wide")
    write(table, [{"id": n, "v": n, "w": n} for n in range(20)])
    write(table, [{"id": 1, "v": 7, "w": 1}, {"id": 2, "v": 2, "w": 9}, {"id": 3, "v": 3, "w": 3}])
    names = []
    rows_of = arrow_changes._rows

    def recorded(state, plan, keys=None, held=None, asked=None):
        names.append(asked)
        return rows_of(state, plan, keys, held, asked)

    monkeypatch.setattr(arrow_changes, "_rows", recorded)
    plan = plan_changes(table.state, table.change_range(1))
    found = change_frame.few_changes(table, plan, frozenset({"v", "_row_kind"}))
    shown = sorted((row["_row_kind"], row["id"], row["v"]) for row in found.to_pylist())
    assert shown == [("+U", 1, 7), ("+U", 2, 2), ("-U", 1, 1), ("-U", 2, 2)], "another column of row 2 changed"
    assert found.column_names == ["_row_kind", "id", "v"]
    assert set(names) == {("id", "v"), None}
    whole = change_frame.few_changes(table, plan)
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, whole.select(found.column_names).to_pylist()))
    names.clear()
    write(table, [{"id": 4, "v": 8, "w": 8}])
    found = change_frame.few_changes(table, plan_changes(table.state, table.change_range(2)), frozenset({"v"}))
    assert (found.num_rows, set(names)) == (2, {("id", "v")}), "whole rows are not needed"


def test_a_query_that_only_needs_columns_computes_no_changes(catalog, tables, monkeypatch):
    spark = Mock(**{"catalog.tableExists.return_value": False})
    frames = Frames(spark, catalog, "default", settings={}, only_columns=True)
    read = Mock()
    monkeypatch.setattr(arrow_changes, "_rows", read)
    (changes,) = (one for one in references(MODEL) if one.name == "few")
    assert frames._source_of(changes) is None
    read.assert_not_called()
    monkeypatch.undo()
    kept = Frames(spark, catalog, "default", settings={}, only_columns=True, lasting=True)
    assert kept._source_of(changes).count == 4, "a temporary view reads them later"


ENGINES = [
    {},
    {"merge-engine": "partial-update"},
    {"merge-engine": "first-row"},
    {"merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "fields.w.aggregate-function": "max"},
]


@pytest.mark.parametrize("options", ENGINES, ids=lambda one: one.get("merge-engine", "deduplicate"))
def test_some_columns_of_changes_are_those_of_whole_rows(catalog, options):
    random = Random(7)
    columns = {"id": "INT", "v": "INT", "w": "INT"}
    table = make_table(catalog, columns, ["id"], options={"bucket": "2", **options}, name="t")
    for _ in range(5):
        ids = random.sample(range(12), 5)
        write(table, [{"id": n, "v": random.choice([None, 0, 1]), "w": random.choice([None, 0, 1])} for n in ids])
    for start, end in combinations(range(1, 6), 2):
        plan = plan_changes(table.state, table.change_range(start, end))
        whole = change_frame.few_changes(table, plan)
        for names in ({"v"}, {"w", "id"}, set()):
            found = change_frame.few_changes(table, plan, frozenset(names))
            assert set(found.column_names) == {"_row_kind", "id", *names}
            shown = [sorted(map(repr, one.select(found.column_names).to_pylist())) for one in (found, whole)]
            assert shown[0] == shown[1], (start, end, names)
