"""Other readers skip files and buckets by our statistics and our hash; what they skip must not be what they look for."""

from __future__ import annotations

import operator

import pytest
from compare import multiset
from ours import OurTable
from shapes import ATOMIC

from tablestore_engine.schema.types import AtomicType

KINDS = ("bigint", "smallint", "string", "decimal_compact", "decimal_wide", "date", "timestamp_6")
CONDITIONS = {"equal": operator.eq, "less_or_equal": operator.le, "greater_or_equal": operator.ge}


def _values(kind):
    # Texts that need no quoting in SQL; the long ones are cut in statistics.
    return [v for v in ATOMIC[kind].values if not isinstance(v, str) or (v.strip() and "'" not in v)]


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
            where = ["c", method, str(value), type(value).__name__]
            for reader in ("pypaimon", "datafusion"):
                found = paimon.read(reader, table.warehouse, table.name, where=where)
                assert multiset(found) == expected, (reader, where)
