"""Arrow's answers about conditions are Spark's, with ANSI SQL and without."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal

import pyarrow as pa
import pytest

from tablestore_engine.operation.write.check_constraints import compiled
from tablestore_engine.schema.types.arrow import arrow_schema
from tablestore_engine.sql.query.exact_conditions import exact_predicate

pytestmark = pytest.mark.spark

COLUMNS = {
    "id": "INT", "n": "TINYINT", "d": "DECIMAL(10, 2)", "long": "DECIMAL(38, 18)", "f": "FLOAT", "x": "DOUBLE",
    "s": "STRING", "c": "VARCHAR(5)", "b": "BOOLEAN", "day": "DATE", "at": "TIMESTAMP_LTZ",
}  # fmt: skip
NAN, ZONE = float("nan"), timezone.utc
ROWS = [
    (1, 5, "5.50", "1e19", 0.1, 0.1, "a", "b ", True, date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=ZONE)),
    (2, -1, "0.00", "1e-18", NAN, NAN, "", "", False, date(1, 1, 1), datetime(1500, 1, 1, tzinfo=ZONE)),
    (3, None, None, None, None, None, None, None, None, None, None),
    (
        4,
        0,
        "-0.01",
        "-1e-18",
        -0.0,
        -0.0,
        "\U0001f600",
        "\uffee",
        True,
        date(2024, 2, 29),
        datetime(2024, 1, 1, 0, 0, 1),
    ),
    (
        5,
        127,
        "99999999.99",
        "0",
        float("inf"),
        16777216.0,
        "é",
        "e\u0301",
        None,
        None,
        datetime.max.replace(tzinfo=ZONE),
    ),
]
CONDITIONS = (
    "id > 2", "4 >= id", "ID <> 2", "id <=> 3", "NOT id IN (1, 3)", "n <= -1", "n BETWEEN 0 AND 5",
    "n NOT BETWEEN 0 AND 5", "n IS NULL OR n > 0", "NOT (n > 0 AND d IS NOT NULL)", "d > 0", "d <> 5.5",
    "d IN (0, 5.50, -0.01)", "d = -0.01", "long > 0", "long = 10000000000000000000",
    "long IN (1, 0.000000000000000001)", "long >= 0.0", "f > 0", "f = 0.1", "f >= 1e1", "f = 0", "NOT f > 5",
    "f <> 0", "f IN (0, 0.1)", "f NOT IN (0, 5)", "f < 16777216", "x > 0.1", "x = 0.1", "x <= 0", "x IN (0, 0.1)",
    "x NOT IN (1)", "x <> 16777216", "NOT x BETWEEN 0 AND 1", "x <=> 0", "s > 'z'", "s = ''", "s <> 'é'",
    "s IN ('a', 'A')", "s NOT IN ('a', 'b')", "s >= '\uffee'", "s < '\U0001f600'", "s <=> NULL", "c = 'b'", "c > 'b'",
    "c IN ('b ', '')", "b", "NOT b", "! b OR id = 3", "b = TRUE", "b <> true", "b IN (true)", "b < true",
    "day > DATE '2024-01-01'", "day = '2024-02-29'", "day IN ('2024-01-01')", "NOT day < CAST('2024-02-29' AS DATE)",
    "at >= TIMESTAMP '2024-01-01 00:00:00Z'", "at < TIMESTAMP '2024-01-01 01:00:00+01:00'",
    "b AND n > 3 OR s IS NOT NULL",
)  # fmt: skip


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_answers_are_those_of_spark(store, ansi):
    table = store.create_table("t", COLUMNS)
    kinds = arrow_schema(table.schema.fields)
    columns = list(zip(*ROWS, strict=True))
    for at, name in enumerate(COLUMNS):
        if name in ("d", "long"):
            columns[at] = [None if one is None else Decimal(one) for one in columns[at]]
    rows = pa.table([pa.array(one, kind.type) for one, kind in zip(columns, kinds, strict=True)], schema=kinds)
    table.write(rows)
    items = ", ".join(f"({one}) AS c{number}" for number, one in enumerate(CONDITIONS))
    before = store.spark.conf.get("spark.sql.ansi.enabled")
    store.spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        found = [tuple(row) for row in store.sql(f"SELECT {items} FROM t ORDER BY id").collect()]
    finally:
        store.spark.conf.set("spark.sql.ansi.enabled", before)
    read = [exact_predicate(one, table.schema.field_names) for one in CONDITIONS]
    judged = [predicate and compiled(predicate, table.schema) for predicate in read]
    assert [one for one, judge in zip(CONDITIONS, judged, strict=True) if judge is None] == []
    for number, (condition, judge) in enumerate(zip(CONDITIONS, judged, strict=True)):
        assert judge(rows).to_pylist() == [row[number] for row in found], condition
