"""Other readers skip files and buckets by our statistics and our hash; what they skip must not be what they look
for."""

from __future__ import annotations

import operator
from decimal import Decimal

import pytest
from support.interop.compare import multiset
from support.interop.ours import OurTable
from support.interop.shapes import ATOMIC

from tablestore_engine.schema.types.types import ArrayType, AtomicType

KINDS = {
    "bigint": "Int64",
    "smallint": "Int16",
    "string": "Utf8",
    "decimal_compact": "Decimal128(10, 2)",
    "decimal_wide": "Decimal128(38, 9)",
    "date": "Date32",
    "timestamp_6": "Timestamp(Microsecond, None)",
}
CONDITIONS = {"equal": operator.eq, "less_or_equal": operator.le, "greater_or_equal": operator.ge}


def _values(kind):
    # Texts that need no quoting in SQL; the long ones are cut in statistics. DataFusion itself fails on a comparison
    # with a column whose statistics span all of BIGINT ("Selectivity is out of limit: inf").
    values = ATOMIC[kind].values
    return values[1:-1] if kind == "bigint" else [v for v in values if kind != "string" or (v.strip() and "'" not in v)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("role", ["key", "partition", "value", "append"])
def test_conditions(catalog, paimon, name, kind, role):
    values = _values(kind)
    key = {"key": ["c"], "partition": ["c", "id"], "value": ["id"], "append": []}[role]
    table = OurTable.create(
        catalog, name, {"id": AtomicType("BIGINT"), "c": ATOMIC[kind].type}, key=key,
        partition=["c"] if role == "partition" else [], options={"bucket": "5"} if key else {},
    )  # fmt: skip
    for step in range(2):
        table.write([{"id": 10 * i + step, "c": v} for i, v in enumerate(values) if (i + step) % 3])
    rows = table.read().to_pylist()
    for method, holds in CONDITIONS.items():
        for value in values if method == "equal" else values[1::3]:
            expected = multiset([r for r in rows if holds(r["c"], value)])
            text = format(value, "f") if isinstance(value, Decimal) else str(value)
            where = ["c", method, text, type(value).__name__, KINDS[kind]]
            for reader in ("pypaimon", "datafusion"):
                found = paimon.read(reader, table.warehouse, table.name, where=where)
                assert multiset(found) == expected, (reader, where)


@pytest.mark.parametrize(
    "options",
    [
        {"fields.id.stats-mode": "none"},
        {"fields.c.stats-mode": "none"},
        {"fields.id.stats-mode": "none", "metadata.stats-dense-store": "false"},
        {"metadata.stats-mode": "counts"},
        {"metadata.stats-mode": "none"},
        {"metadata.stats-mode": "truncate(2)"},
    ],
    ids=str,
)
@pytest.mark.parametrize("key", [[], ["id"]], ids=["append", "keyed"])
def test_files_with_statistics_of_some_columns(catalog, paimon, name, key, options):
    """A reader that took the statistics of one column for those of another would skip what it looks for."""
    columns = {"many": ArrayType(AtomicType("INT")), "id": AtomicType("BIGINT"), "c": AtomicType("STRING")}
    table = OurTable.create(catalog, name, columns, key=key, options={**options, **({"bucket": "1"} if key else {})})
    for step in (0, 100):
        table.write([{"many": [i], "id": i, "c": f"text-{i:04}"} for i in range(step, step + 20)])
    for where, row in (
        (["c", "equal", "text-0105", "str", "Utf8"], 105),
        (["id", "equal", "7", "int", "Int64"], 7),
    ):
        for reader in ("pypaimon", "datafusion"):
            found = paimon.read(reader, table.warehouse, table.name, where=where).to_pylist()
            assert [one["id"] for one in found] == [row], (reader, where)
