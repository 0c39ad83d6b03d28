"""A CREATE OR REPLACE cut short, as Java Paimon sees it: what ADR 0004 says of the order of its two files."""

from __future__ import annotations

import json

import pytest
from support.interop.java_paimon import JavaPaimonError
from support.interop.ours import OurTable, rows_of

from tablestore_engine.operation.commit.replace_table import everything, next_schema, replace_all
from tablestore_engine.operation.transaction.transaction import begin, publish
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.write_intent import PLAIN
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import AtomicType

OLD = {"id": AtomicType("BIGINT"), "text": AtomicType("STRING")}
NEW = [("text", AtomicType("INT"), None), ("id", AtomicType("BIGINT"), None)]


@pytest.fixture
def table(catalog, name):
    made = OurTable.create(catalog, name, OLD)
    made.write([{"id": i, "text": f"old{i}"} for i in range(3)])
    return made


def test_the_schema_without_its_snapshot(java, table):
    """Java shows the old rows in the new columns; this engine shows the old table."""
    now = table.table
    assert now.schemas.try_create(next_schema(now.schema, create_schema(NEW), 0))
    head, rows = java.read(now.path)
    assert [name for name, _ in head] == ["text", "id"]
    assert [json.loads(row) for row in rows.elements()] == [[None, None]] * 3
    assert table.read().num_rows == 3


def test_the_snapshot_without_its_schema(java, table):
    """Java can open the table no more; so the schema comes first."""
    now = table.table
    schema = next_schema(now.schema, create_schema(NEW), now.schemas.list_ids()[-1])
    job = begin(now.state, PLAIN, now.latest_snapshot(), removes=everything, schema=schema)
    result = write_table(job, rows_of(schema, [{"id": 1, "text": 7}]))
    publish(now.state, job, result, replace_all(now.schema, schema))
    assert java.read(now.path)[1].total() == 1
    now.io.delete(f"{now.path}/schema/schema-{schema.id}")
    with pytest.raises(JavaPaimonError, match=f"schema-{schema.id}"):
        java.read(now.path)
