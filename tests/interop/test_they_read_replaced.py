"""Tables that were replaced by others of the same name (CREATE OR REPLACE), as other readers see them."""

from __future__ import annotations

import pytest
from support.interop.compare import assert_same
from support.interop.ours import OurTable, rows_of
from support.interop.readers import EVERY_READER

from tablestore_engine.operation.commit.replace_table import everything, next_schema, replace_all
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import PLAIN
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.layout import with_primary_key
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import AtomicType

ID, INT, TEXT = AtomicType("BIGINT"), AtomicType("INT"), AtomicType("STRING")
OLD = {"id": ID, "text": TEXT}
# The same names with other types and order: a reader that finds columns by name would misread old files.
NEW = [("text", INT, None), ("id", ID, None), ("new", TEXT, None)]
ROWS = [{"id": 1, "text": 7, "new": "x"}, {"id": 2, "text": None, "new": "y"}]


def _replace(table: OurTable, wanted: TableSchema, rows) -> None:
    now = table.table
    schema = next_schema(now.schema, wanted, now.schemas.list_ids()[-1])
    job = begin(now.state, PLAIN, now.latest_snapshot(), removes=everything, schema=schema)
    result = write_table(job, rows_of(schema, rows))
    publish(now.state, job, result, replace_all(now.schema, schema))


@pytest.mark.parametrize("key", [[], ["id"]], ids=["append", "keyed"])
def test_other_columns(catalog, all_read, name, key):
    options = {"bucket": "2"} if key else {}
    table = OurTable.create(catalog, name, OLD, key=key, options=options)
    table.write([{"id": i, "text": f"old{i}"} for i in range(10)])
    _replace(table, create_schema(NEW, key, (), options), ROWS)
    found = all_read(table).sort_by("id")
    assert found.to_pylist() == [{n: r[n] for n in ("text", "id", "new")} for r in ROWS]
    table.write([{"id": 2, "text": 9}, {"id": 3}])
    before = all_read(table)
    table.compact(full=True)
    all_read(table, before)


def test_other_key(catalog, all_read, name):
    table = OurTable.create(catalog, name, OLD, key=["id"], options={"bucket": "2"})
    table.write([{"id": i, "text": f"old{i}"} for i in range(10)])
    _replace(table, create_schema(NEW, ["new"], (), {"bucket": "3"}), ROWS)
    assert all_read(table).num_rows == 2
    table.write([{"id": 5, "new": "x"}])
    assert all_read(table).num_rows == 2


@pytest.mark.parametrize("truncated", [False, True], ids=["rewritten", "truncated"])
@pytest.mark.parametrize("partition", [[], ["id"]], ids=["unpartitioned", "partitioned"])
def test_a_key_that_was_added(catalog, all_read, name, partition, truncated):
    """Bounds of keys are read by the types of the newest key, also those of files that were removed."""
    table = OurTable.create(catalog, name, OLD, partition=partition)
    table.write([{"id": i, "text": f"old{i}"} for i in range(5)])
    if truncated:
        table.truncate()
    _add_key(table, (*partition, "text"))
    assert all_read(table).num_rows == (0 if truncated else 5)
    table.write([{"id": 3, "text": "old3"}, {"id": 7, "text": "x"}])
    assert all_read(table).num_rows == (2 if truncated else 6)
    table.compact(full=True)
    assert all_read(table).num_rows == (2 if truncated else 6)


def _add_key(table: OurTable, keys: tuple[str, ...]) -> None:
    """What ALTER TABLE … ADD PRIMARY KEY does, without Spark."""
    now = table.table
    schema = with_primary_key(now.schema, keys, 1, now.schemas.list_ids()[-1], 0)
    job = begin(now.state, PLAIN, now.latest_snapshot(), removes=everything, schema=schema)
    publish(now.state, job, write_table(job, now.to_arrow()), replace_all(now.schema, schema))


@pytest.mark.parametrize("before", [[], ["id"]], ids=["unpartitioned", "partitioned"])
def test_other_partitions(catalog, all_read, name, before):
    table = OurTable.create(catalog, name, OLD, partition=before)
    table.write([{"id": i, "text": f"old{i}"} for i in range(5)])
    _replace(table, create_schema(NEW, (), ("new", "text")), ROWS)
    assert all_read(table).num_rows == 2
    table.write([{"id": 5, "new": "x", "text": 7}])
    assert all_read(table).num_rows == 3
    assert table.table.snapshot(1).total_record_count == 5


@pytest.mark.xfail(strict=True, reason="others take the newest schema for the table's, before a snapshot has it")
def test_replacement_that_died_in_between(catalog, paimon, name):
    """The engine shows the old table. Others show its rows in the new columns until the next replacement."""
    table = OurTable.create(catalog, name, OLD)
    table.write([{"id": i, "text": f"old{i}"} for i in range(10)])
    old = table.read()
    now = table.table
    assert now.schemas.try_create(next_schema(now.schema, create_schema(NEW), 0))
    assert_same(table.read(), old, "tablestore")
    for reader in EVERY_READER:
        assert_same(paimon.read(reader, table.warehouse, table.name), old, reader)
