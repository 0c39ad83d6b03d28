"""Arrow's answers about conditions are Spark's, with ANSI SQL and without."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest
from support import random_conditions
from support.soak import seeds

from tablestore_engine.schema.expressions.arrow_expressions import condition
from tablestore_engine.schema.types.arrow import arrow_schema
from tablestore_engine.sql.query.row_expressions import read_expression

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
    "b AND n > 3 OR s IS NOT NULL", "id > n", "d >= id", "long > d", "d < x", "n + 1 > id", "n * 100 = 500",
    "d + 0.5 > d", "d * n < 0", "- n < id", "abs(n) = 1", "id % 2 = 1", "-5 % id = -1", "id / 2 = 1.5", "7 DIV id = 3",
    "length(s) = 1", "length(c) < 5 OR upper(c) = 'B'", "s || c = 'ab '", "trim(c) = 'b'", "s LIKE 'a%'",
    "s NOT LIKE '_'", "c LIKE '%b%'", "coalesce(n, id) = 3", "n IN (1, NULL)", "n NOT IN (5, NULL)",
    "n IN (id, 5, 127)",
    "n BETWEEN -1 AND id", "n BETWEEN NULL AND 4", "b IS TRUE", "b IS NOT FALSE", "b IS UNKNOWN",
    "n IS DISTINCT FROM 5",
    "isnan(f)", "(n > 1) = b", "n > 1 IS NULL", "n <> 0 AND 10 / n > 1", "n = 0 OR 10 % n = 0", "day <> '2024-01-01'",
    "n = NULL", "NULL <=> n", "f = x", "x > id", "d > 0.001", "d > 1e0", "id > 0.5", "NULL",
    "TRUE", "1 = 1 AND id > 0", "id > 3000000000",
)  # fmt: skip


@pytest.fixture(params=["true", "false"], ids=["ansi", "not-ansi"], autouse=True)
def ansi(store, request):
    before = store.spark.conf.get("spark.sql.ansi.enabled")
    store.spark.conf.set("spark.sql.ansi.enabled", request.param)
    yield
    store.spark.conf.set("spark.sql.ansi.enabled", before)


def test_answers_are_those_of_spark(store):
    table = store.create_table("t", COLUMNS)
    kinds = arrow_schema(table.schema.fields)
    columns = list(zip(*ROWS, strict=True))
    for at, name in enumerate(COLUMNS):
        if name in ("d", "long"):
            columns[at] = [None if one is None else Decimal(one) for one in columns[at]]
    rows = pa.table([pa.array(one, kind.type) for one, kind in zip(columns, kinds, strict=True)], schema=kinds)
    table.write(rows)
    items = ", ".join(f"({one}) AS c{number}" for number, one in enumerate(CONDITIONS))
    found = [tuple(row) for row in store.sql(f"SELECT {items} FROM t ORDER BY id").collect()]
    judged = [judge_of(one, table) for one in CONDITIONS]
    assert [one for one, judge in zip(CONDITIONS, judged, strict=True) if judge is None] == []
    for number, (sql, judge) in enumerate(zip(CONDITIONS, judged, strict=True)):
        answer = judge(rows)
        assert not any(whole(False if answer.unknown is None else answer.unknown, rows)), sql
        assert list(whole(answer.values, rows)) == [row[number] for row in found], sql


@pytest.mark.cover
@pytest.mark.parametrize("seed", seeds(2, 4))
def test_answers_about_random_conditions_are_those_of_spark(store, seed):
    """Of a row that is unknown to Arrow, Spark is not asked: it may fail there. It fails at no other row."""
    random = Random(seed)
    table = store.create_table("t", random_conditions.COLUMNS)
    kinds = arrow_schema(table.schema.fields)
    columns = zip(*random_conditions.rows(60, random), strict=True)
    rows = pa.table([pa.array(one, kind.type) for one, kind in zip(columns, kinds, strict=True)], schema=kinds)
    table.write(rows)
    generate, asked, answers = random_conditions.Conditions(random), [], []
    for sql in (generate.one() for _ in range(250)):
        judge = judge_of(sql, table)
        if judge is None:
            continue
        found = judge(rows)
        unknown = whole(False if found.unknown is None else found.unknown, rows)
        known = [number for number, one in enumerate(unknown) if not one]
        ids = ", ".join(map(str, known)) or "-1"
        asked.append(f"CASE WHEN id IN ({ids}) THEN ({sql}) END AS c{len(asked)}")
        answers.append(
            (sql, [None if one else value for one, value in zip(unknown, whole(found.values, rows), strict=True)])
        )
    assert len(asked) > 100, "most conditions are refused"
    assert sum(value is not None for _, values in answers for value in values) > 2_000, "hardly any row has an answer"
    found = [tuple(row) for row in store.sql(f"SELECT {', '.join(asked)} FROM t ORDER BY id").collect()]
    wrong = [
        (sql, at, value, row[number])
        for number, (sql, values) in enumerate(answers)
        for at, (value, row) in enumerate(zip(values, found, strict=True))
        if value != row[number]
    ]
    assert wrong == []


def judge_of(sql, table):
    expression = read_expression(sql, table.schema.field_names)
    return None if expression is None else condition(expression, table.schema.fields)


def whole(values, rows):
    if isinstance(values, (bool, pa.Scalar)):
        return [values if isinstance(values, bool) else values.as_py()] * rows.num_rows
    return values.to_pylist()
