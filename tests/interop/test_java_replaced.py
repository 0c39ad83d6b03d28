"""A CREATE OR REPLACE cut short, as Java Paimon sees it: what ADR 0004 says of the order of its two files."""

from __future__ import annotations

import pytest
from support.interop.java_paimon import JavaPaimonError, multiset_of
from support.interop.ours import OurTable, rows_of

from tablestore_engine.operation.commit.replace_table import everything, next_schema, replace_all, schema_publisher
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import PLAIN
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import AtomicType
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore

OLD = {"id": AtomicType("BIGINT"), "text": AtomicType("STRING")}
NEW = [("text", AtomicType("INT"), None), ("id", AtomicType("BIGINT"), None)]


@pytest.fixture
def table(catalog, name):
    made = OurTable.create(catalog, name, OLD)
    made.write([{"id": i, "text": f"old{i}"} for i in range(3)])
    return made


def unfinished(table, wanted):
    """A replacement that is killed once its schema is there."""
    now = table.table
    schema = next_schema(now.schema, wanted, now.schemas.list_ids()[-1])
    assert schema_publisher(now.schemas, now.schema, schema)() == schema
    return now.path


def test_the_schema_without_its_snapshot(java, table):
    """Java reads the old table, as this engine does, and cannot commit to it."""
    path = unfinished(table, create_schema(NEW))
    head, rows = java.read(path)
    assert [name for name, _ in head] == ["id", "text"]
    assert rows == multiset_of(table.read(), table.table.schema)
    assert rows.total() == 3
    with pytest.raises(JavaPaimonError, match="the table is being replaced"):
        java.ask("copy", path, path)
    assert table.table.latest_snapshot().id == 1


def test_without_its_snapshot_and_with_options_of_its_own(java, table):
    """Java would read the old rows under the new options; it refuses."""
    path = unfinished(table, create_schema(NEW, options={"deletion-vectors.enabled": "true"}))
    with pytest.raises(JavaPaimonError, match="the table is being replaced"):
        java.read(path)
    assert table.read().num_rows == 3


def test_the_snapshot_whose_schema_was_not_settled(java, catalog, name, monkeypatch):
    """A writer that is killed after its snapshot: Java reads the new table, and the next commit here ends it."""
    table = OurTable.create(catalog, name, OLD)
    table.write([{"id": i, "text": f"old{i}"} for i in range(3)])
    with monkeypatch.context() as killed:
        killed.setattr(SchemaStore, "settle", lambda *_: None)
        replaced(table, [{"id": 1, "text": 7}])
    head, rows = java.read(table.table.path)
    assert [column for column, _ in head] == ["text", "id"]
    assert sorted(rows.elements()) == ["[7, 1]"]
    with pytest.raises(JavaPaimonError, match="the table is being replaced"):
        java.ask("copy", table.table.path, table.table.path)
    table.write([{"id": 2, "text": 8}])
    java.ask("copy", table.table.path, table.table.path)
    assert sorted(java.read(table.table.path)[1].elements()) == ["[7, 1]", "[7, 1]", "[8, 2]", "[8, 2]"]


def replaced(table, rows):
    now = table.table
    schema = next_schema(now.schema, create_schema(NEW), now.schemas.list_ids()[-1])
    job = begin(now.state, PLAIN, now.latest_snapshot(), removes=everything, schema=schema)
    publish(now.state, job, write_table(job, rows_of(schema, rows)), replace_all(now.schema, schema))
    return schema


def test_the_snapshot_without_its_schema(java, table):
    """Java can open the table no more; so the schema comes first."""
    now = table.table
    schema = replaced(table, [{"id": 1, "text": 7}])
    assert java.read(now.path)[1].total() == 1
    now.io.delete(f"{now.path}/schema/schema-{schema.id}")
    with pytest.raises(JavaPaimonError, match=f"schema-{schema.id}"):
        java.read(now.path)
