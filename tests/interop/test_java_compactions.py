"""After every compaction that this engine has, Java Paimon and the other readers find the same rows in every kind of
table.

Run with the readers that are there: those of `make interop`, those of `make interop-java`, or both.
"""

from __future__ import annotations

import os

import pytest
from support.interop.compare import assert_same, multiset
from support.interop.ours import OurTable
from support.interop.readers import READERS

from tablestore_engine.schema.types.types import AtomicType

pytestmark = pytest.mark.spark

COLUMNS = {
    "id": AtomicType("BIGINT"), "day": AtomicType("INT"), "n": AtomicType("INT"), "text": AtomicType("STRING"),
}  # fmt: skip
KEYED = {
    "deduplicate": {"bucket": "2"},
    "sequence": {"bucket": "2", "sequence.field": "n"},
    "partial_update": {"bucket": "2", "merge-engine": "partial-update"},
    "sequence_group": {"bucket": "2", "merge-engine": "partial-update", "fields.n.sequence-group": "text"},
    "aggregation": {
        "bucket": "2", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum",
        "fields.text.aggregate-function": "max",
    },
    "first_row": {"bucket": "2", "merge-engine": "first-row"},
    "dynamic": {"bucket": "-1", "dynamic-bucket.target-row-num": "20"},
}  # fmt: skip
LAYOUTS = {"append": {}, "bucketed": {"bucket": "2", "bucket-key": "id"}}


# Without Java only these; `test_they_read_keyed.py` and the files next to it test all kinds with the other readers.
FEW = ("aggregation", "append")


@pytest.fixture
def everyone_reads(request, spark_store):
    """Every reader that is there, and Spark, find the rows that the engine finds."""
    java = request.getfixturevalue("java_reads") if os.environ.get("PAIMON_JARS") else None
    paimon = request.getfixturevalue("paimon") if os.environ.get("PYPAIMON_PYTHON") else None
    if not java and (paimon is None or request.node.callspec.params["case"] not in FEW):
        pytest.skip("PAIMON_JARS is not set; `make interop-java` sets it")

    def check(table: OurTable, *, unknown_to=()):
        own = table.read()
        if java:
            java(table)
        for reader in READERS if paimon else ():
            if reader in unknown_to:
                continue
            assert_same(paimon.read(reader, table.warehouse, table.name), own, reader)
        assert_same(spark_store.read(table.name.split(".")[1]).toArrow(), own, "Spark")
        return own

    return check


def _rows(ids, step):
    return [
        {
            "id": i,
            "day": i % 2,
            "n": None if (i + step) % 5 == 0 else (i * 7 + step) % 4,
            "text": None if (i + step) % 6 == 0 else f"s{step}-{i}",
        }
        for i in ids
    ]


@pytest.mark.parametrize("case", KEYED)
def test_keyed(spark_store, catalog, everyone_reads, name, case):
    options = {**KEYED[case], "write-only": "true"}
    table = OurTable.create(catalog, name, COLUMNS, key=["day", "id"], partition=["day"], options=options)
    compactions = [
        f"CALL sys.compact(table => '{name}', strategy => 'minor')",
        f"ALTER TABLE {name} COMPACT",
        f"CALL sys.run_compaction(table => '{name}')",
        f"CALL sys.compact(table => '{name}', strategy => 'full')",
    ]
    if case != "dynamic":
        compactions.insert(3, f"ALTER TABLE {name} CLUSTERED INTO 3 BUCKETS")
    step = 0
    for compact in compactions:
        for _ in range(6):
            table.write(_rows(range(step, step + 30), step))
            step += 1
        before = multiset(table.read())
        if "run_compaction" in compact:
            spark_store.sql(f"CALL sys.schedule_compaction(table => '{name}', strategy => 'full')")
            if case != "first_row":  # others see of it what was compacted
                table.write(_rows(range(step - 5, step + 5), step))
                before = multiset(table.read())
        spark_store.sql(compact)
        assert multiset(table.read()) == before, compact
        if case == "first_row" and "minor" in compact:
            continue
        everyone_reads(table, unknown_to=("pypaimon",) if case == "sequence_group" else ())
    assert 0 not in table.levels()


@pytest.mark.parametrize("case", LAYOUTS)
def test_tables_without_a_key(spark_store, catalog, everyone_reads, name, case):
    table = OurTable.create(catalog, name, COLUMNS, partition=["day"], options={**LAYOUTS[case], "write-only": "true"})
    compactions = [
        f"CALL sys.compact(table => '{name}', strategy => 'minor')",
        f"ALTER TABLE {name} COMPACT",
        f"CALL sys.run_compaction(table => '{name}')",
    ]
    if case == "append":
        by = "order_by => 'n,text'"
        compactions += [
            f"CALL sys.compact(table => '{name}', order_strategy => '{one}', {by})" for one in ("order", "zorder")
        ]
    else:
        compactions.append(f"ALTER TABLE {name} CLUSTERED INTO 3 BUCKETS")
    for step, compact in enumerate(compactions):
        for _ in range(6):
            table.write(_rows(range(20), step))
        files = {e.file.file_name for e in table.table.live_files()}
        before = multiset(table.read())
        if "run_compaction" in compact:
            spark_store.sql(f"CALL sys.schedule_compaction(table => '{name}', strategy => 'full')")
        spark_store.sql(compact)
        assert files != {e.file.file_name for e in table.table.live_files()}, compact
        assert multiset(everyone_reads(table)) == before, compact
