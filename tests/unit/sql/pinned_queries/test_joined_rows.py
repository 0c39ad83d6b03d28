"""When the rows of a join are looked up by keys: not again after they were too many, nor in a cached table."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support.tables import keyed_table, make_table, rows, write

from tablestore_engine.spark.queries.table_cache import CachedTable
from tablestore_engine.spark.read import lookup_rows, merge_source_bounds
from tablestore_engine.sql.pinned_queries import joined_rows as module
from tablestore_engine.sql.pinned_queries.joined_rows import joined_rows, source_of_rows
from tablestore_engine.sql.pinned_queries.table_frames import TableRead, state_of
from tablestore_engine.sql.query.bind import references


@pytest.fixture
def looked_up(monkeypatch, catalog):
    """Runs a join of two tables without Spark; returns its rows, and how often rows were read by keys."""
    monkeypatch.setattr(merge_source_bounds, "LARGE_FILES", 0)
    monkeypatch.setattr(module.parquet_file, "PAGE_ROWS", 1)
    monkeypatch.setattr(lookup_rows, "MOST_ROWS", 3)
    monkeypatch.setattr(module, "frame_of_rows", lambda spark, found, schema: found.to_pylist())
    read = []

    def recorded(*args):
        read.append(args)
        return lookup_rows.rows_of_keys(*args)

    monkeypatch.setattr(module, "rows_of_keys", recorded)
    big, few = keyed_table(catalog, {"bucket": "1"}, name="big"), make_table(catalog, {"x": "INT"}, name="few")
    write(big, rows(range(100)))

    def run(query, spark=None):
        read.clear()
        (reference,) = (one for one in references(query) if one.name == "big")
        scan = TableRead(big, big.latest_snapshot(), big.schema, reference)
        found = joined_rows(spark or SimpleNamespace(), scan, lambda _: source_of_rows(few, few.latest_snapshot()))
        return None if found is None else found[0], len(read)

    return run, big, few


JOIN = "SELECT t.v FROM big t JOIN few s ON t.id = s.x"


def test_too_many_rows_are_looked_up_once(looked_up):
    run, big, few = looked_up
    write(few, [{"x": number} for number in range(5)])
    assert run(JOIN) == (None, 1)
    assert run(JOIN) == (None, 0), "the tables are the same"
    assert run(f"{JOIN} WHERE t.id > 300") == ([], 1), "another query needs other rows"
    write(few, [{"x": 6}])
    assert run(JOIN) == (None, 1)
    write(big, rows([1], 2))
    assert run(JOIN) == (None, 1)
    assert run(JOIN) == (None, 0)


def test_rows_of_few_keys_are_looked_up_each_time(looked_up):
    run, _, few = looked_up
    write(few, [{"x": 7}])
    for _ in range(2):
        assert run(JOIN) == ([{"id": 7, "v": 0}], 1)


def test_a_cached_table_is_not_looked_up(looked_up):
    run, big, few = looked_up
    write(few, [{"x": 7}])
    state = state_of(big, big.latest_snapshot(), big.schema)
    frame = SimpleNamespace(storageLevel="MEMORY_ONLY")
    spark = SimpleNamespace(_tablestore_cached_tables={big.path: CachedTable("MEMORY_ONLY", state, frame, 1)})
    assert run(JOIN, spark) == (None, 0)
