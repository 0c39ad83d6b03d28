"""Tables in which Java Paimon looks older records up when it compacts: above level 0 it then reads of each key the
record at the lowest level only, or does not merge at all. What we write is whole there, and what it writes counts once.
"""

from __future__ import annotations

import pytest
from support.interop.compare import assert_same

from tablestore_engine.schema.types.types import parse_type

pytestmark = pytest.mark.spark

COLUMNS = {"id": "INT", "at": "INT", "n": "BIGINT", "text": "STRING"}
OURS = {name: parse_type(kind) for name, kind in COLUMNS.items()}
ENGINES = {
    "sums": {
        "merge-engine": "aggregation", "fields.n.aggregate-function": "sum",
        "fields.text.aggregate-function": "listagg",
    },
    "groups": {
        "merge-engine": "partial-update", "fields.at.sequence-group": "n,text", "fields.n.aggregate-function": "sum",
    },
    "ordered": {"sequence.field": "at"},
    "newest": {},
}  # fmt: skip
LOOKUPS = {
    "producer": {"changelog-producer": "lookup"},
    "forced": {"force-lookup": "true"},
    "vectors": {"changelog-producer": "lookup", "deletion-vectors.enabled": "true"},
}


def _rows(ids, step):
    return [{"id": i, "at": 100 - step, "n": 10**step, "text": f"{step}"} for i in ids]


@pytest.mark.parametrize("lookup", LOOKUPS)
@pytest.mark.parametrize("case", ENGINES)
def test_both_write(java, java_reads, made, spark_store, case, lookup):
    options = {"bucket": "1", "num-sorted-run.compaction-trigger": "3", **ENGINES[case], **LOOKUPS[lookup]}
    table, more = made(options, key=["id"])

    def theirs(ids, step):
        more.overwrite(_rows(ids, step))
        java.ask("copy", table.table.path, more.table.path)

    for step, ids in enumerate((range(2000), range(5), range(3, 8))):
        theirs(ids, step)
        own = java_reads(table)
        assert_same(spark_store.read(table.name.split(".")[1]).toArrow(), own, "Spark")
    assert len([level for level in table.levels() if level > 0]) > 1, "Java left what it looked up"
    for step in range(3, 9):
        table.write(_rows(range(step, step + 3), step))
        java_reads(table)
        before = table.read()
        table.compact(full=False)
        assert_same(java_reads(table), before, "after our compaction")
    theirs(range(4, 9), 9)
    java_reads(table)
    table.compact(full=True)
    java_reads(table)


def test_our_first_rows(java, java_reads, made):
    table, more = made({"bucket": "1", "merge-engine": "first-row", "num-sorted-run.compaction-trigger": "3"}, ["id"])
    table.write(_rows(range(20_000), 0))
    for step in range(1, 6):
        table.write(_rows(range(step, step + 3), step))
        table.write(_rows([30_000 + step, 30_001 + step], step))
        table.compact(full=False)
    assert len(set(table.levels()) - {0}) > 1, "a part of the runs was merged"
    more.overwrite(_rows(range(30_000, 30_009), 7))
    java.ask("copy", table.table.path, more.table.path)
    java.ask("compact", table.table.path)
    assert java_reads(table).num_rows == 20_009
