"""Partitions that Java Paimon makes of values of every type: we find them, and name ours as it does."""

from __future__ import annotations

import json

import pytest
from support.interop.compare import assert_same, multiset
from support.interop.ours import OurTable
from support.interop.shapes import ATOMIC

from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.types.types import AtomicType

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("legacy", ["true", "false"])
@pytest.mark.parametrize("kind", [one for one in ATOMIC if one != "bytes"])  # those name no partition here
def test_values(java, java_reads, catalog, spark_store, name, tmp_path, kind, legacy):
    sample = ATOMIC[kind]
    columns = {"p": sample.type, "q": AtomicType("STRING"), "id": AtomicType("BIGINT")}
    options = {"partition.default-name": "none here", "partition.legacy-name": legacy}
    catalog.create_database("db", if_not_exists=True)
    file = tmp_path / "schema.json"
    schema = create_schema([(n, t, None) for n, t in columns.items()], (), ("p", "q"), options)
    file.write_text(schema.to_json())
    java.ask("define", f"{catalog.warehouse}/db.db/{name}", str(file))
    table = OurTable(catalog, "db", name)
    more = OurTable.create(catalog, f"{name}_more", columns)
    values = (*sample.values, None)
    texts = ("a", "", None, "a/b", "none here")
    rows = [{"p": value, "q": texts[i % len(texts)], "id": i} for i, value in enumerate(values)]
    more.write(rows)
    java.ask("copy", table.table.path, more.table.path)
    partitions = {e.partition for e in table.table.live_files()}
    directories = {b.partition_path for b in table.table.scan().buckets}
    own = java_reads(table)
    assert own.num_rows == len(rows)
    assert_same(spark_store.read(name).toArrow(), own, "Spark")
    table.write(rows)
    assert {e.partition for e in table.table.live_files()} == partitions
    assert {b.partition_path for b in table.table.scan().buckets} == directories
    own = java_reads(table)
    assert own.num_rows == 2 * len(rows)
    texts = [row.partition for row in spark_store.sql(f"SELECT partition FROM `{name}$buckets`").collect()]
    assert sorted(texts) == sorted(json.loads(java.ask("buckets", table.table.path)))
    found = spark_store.sql(f"SELECT * FROM {name} WHERE p IS NULL OR q = 'a'").toArrow()
    wanted = [i for i, row in enumerate(own.to_pylist()) if row["p"] is None or row["q"] == "a"]
    assert multiset(found) == multiset(own.take(wanted))


def test_manifests_of_many_partitions(java, java_reads, catalog, name):
    """Java reads manifests of several blocks, and changes a table that has them."""
    table = OurTable.create(catalog, name, {"p": AtomicType("INT"), "id": AtomicType("BIGINT")}, partition=["p"])
    more = OurTable.create(catalog, f"{name}_more", {"p": AtomicType("INT"), "id": AtomicType("BIGINT")})
    table.write([{"p": p % 250, "id": p} for p in range(500)])
    assert java_reads(table).num_rows == 500
    more.write([{"p": p, "id": 1000 + p} for p in range(0, 300, 3)])
    java.ask("copy", table.table.path, more.table.path)
    assert java_reads(table).num_rows == 600
    assert len(table.table.to_arrow(predicate=Compare("p", "=", 3)).to_pylist()) == 3
