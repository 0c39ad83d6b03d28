"""Texts in other dialects whose values in Spark are easily others: rounding, zones, rows and keys that go missing."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

from support.dialect_values import wrong_values

from dbt.adapters.tablestore.dialect.refusal import DIALECTS
from tablestore_engine import TableStore

ROUNDING = ("snowflake", "bigquery", "redshift", "postgres", "duckdb", "trino")
LISTS = "(select 1 as id, spark__array(7, 8) as l union all select 2, spark__array()) as o"
TIMES = "(values (timestamp '2024-01-15 10:00:00')) as t(x)"
ROWS = "(select 1 as id, 2 as a union all select 2, null) as o"

VALUES = [
    # casts of fractions to integers
    *[(dialect, f"cast({text} as {'int64' if dialect == 'bigquery' else 'int'})", value)
      for dialect in ROUNDING for text, value in (("2.5", 3), ("-2.5", -3), ("2.4", 2), ("'12'", 12))],
    ("databricks", "cast(2.5 as int)", 2),
    ("snowflake", "'12.7'::int", 13),
    ("snowflake", "try_cast('x' as int)", None),
    ("duckdb", "try_cast('1.5' as int)", 2),
    ("postgres", "select x::int from (values (1.5)) as t(x)", 2),
    ("postgres", "true::int", 1),
    ("redshift", "1234567890123456789::bigint", 1234567890123456789),
    # texts that are cut off, booleans, numbers
    ("redshift", "'abcdef'::varchar(3)", "abc"),
    ("trino", "cast(12345 as varchar(3))", "123"),
    ("postgres", "'ab'::varchar(3)", "ab"),
    ("snowflake", "to_boolean('yes')", True),
    ("snowflake", "try_to_boolean('zz')", None),
    ("snowflake", "to_number('1,234', '9,999')", 1234),
    ("snowflake", "trunc(-1.259, 2)", Decimal("-1.25")),
    ("trino", "truncate(0.3, 1)", Decimal("0.3")),
    ("snowflake", "greatest_ignore_nulls(1, null, 3)", 3),
    # zones
    ("postgres", "timestamp '2024-01-15 10:00:00' at time zone 'America/New_York'", datetime(2024, 1, 15, 15)),
    ("postgres", "timestamptz '2024-01-15 10:00:00+00' at time zone 'America/New_York'", datetime(2024, 1, 15, 5)),
    ("duckdb", f"select x at time zone 'UTC' at time zone 'America/New_York' from {TIMES}", datetime(2024, 1, 15, 5)),
    ("bigquery", "date(timestamp '2024-05-15 03:00:00+00', 'America/New_York')", date(2024, 5, 14)),
    ("bigquery", "datetime(timestamp '2024-01-15 10:00:00+00', 'America/New_York')", datetime(2024, 1, 15, 5)),
    ("bigquery", "timestamp('2024-01-15 10:00:00', 'America/New_York')", datetime(2024, 1, 15, 15)),
    ("bigquery", "parse_timestamp('%Y-%m-%d', '2024-01-15', 'America/New_York')", datetime(2024, 1, 15, 5)),
    ("bigquery", "format_timestamp('%H:%M', timestamp '2024-01-15 10:00:00+00', 'America/New_York')", "05:00"),
    ("bigquery", "timestamp_trunc(timestamp '2024-01-15 03:00:00+00', day, 'America/New_York')",
     datetime(2024, 1, 14, 5)),
    ("bigquery", "current_date('America/New_York') is null", False),
    # days, months and slices
    ("bigquery", "last_day(date '2024-02-10', quarter)", date(2024, 3, 31)),
    ("bigquery", "last_day(date '2024-02-10', year)", date(2024, 12, 31)),
    ("bigquery", "datetime_trunc(datetime '2024-05-15 10:11:12', day)", datetime(2024, 5, 15)),
    ("bigquery", "parse_datetime('%Y-%m-%d', '2024-05-15')", datetime(2024, 5, 15)),
    ("bigquery", "safe.parse_date('%Y%m%d', 'abc')", None),
    ("bigquery", "safe.parse_date('%Y%m%d', '20240515')", date(2024, 5, 15)),
    ("snowflake", "try_to_timestamp('x', 'YYYY-MM-DD')", None),
    ("snowflake", "previous_day('2024-01-07'::date, 'su')", date(2023, 12, 31)),
    ("snowflake", "time_slice('2024-01-01 10:17:00'::timestamp, 15, 'MINUTE')", datetime(2024, 1, 1, 10, 15)),
    ("snowflake", "select max(dateadd(day, seq4(), '2024-01-01'::date)) from table(generator(rowcount => 3))",
     date(2024, 1, 3)),
    # rows that a join with an array keeps, and those that a range has not
    *[(dialect, f"select count(*) from {LISTS} left join {text}", 3) for dialect, text in (
        ("bigquery", "unnest(o.l) as x"), ("postgres", "lateral unnest(o.l) as x on true"),
        ("trino", "unnest(o.l) as x(v) on true"), ("duckdb", "unnest(o.l) as x(v) on true"))],
    ("bigquery", f"select count(*) from {LISTS} cross join unnest(o.l) as x", 2),
    ("bigquery", f"select max(x + p) from {LISTS} left join unnest(o.l) as x with offset as p", 9),
    ("bigquery", f"select count(*) from {LISTS} cross join unnest([1, 2]) as y left join unnest(o.l) as x", 6),
    ("bigquery", "select count(*) from unnest(generate_array(5, 1)) as n", 0),
    ("bigquery", "select count(*) from unnest(generate_date_array(date '2024-01-02', date '2024-01-01')) as d", 0),
    ("bigquery", f"select array_agg(id) from {LISTS} where id < 0", None),
    ("postgres", f"select array_agg(id order by id) from {ROWS} where id < 0", None),
    ("snowflake", f"select listagg(a, ',') within group (order by a) from {ROWS} where id > 1", ""),
    ("redshift", f"select listagg(a, ',') within group (order by a) from {ROWS} where id > 1", None),
    # aliases in windows and in WHERE
    ("snowflake", f"select max(s) from (select coalesce(a, 5) as b, b + 1 as c, sum(c) over () as s from {ROWS})", 9),
    ("snowflake", f"select id from (select id, coalesce(a, 5) as b from {ROWS} qualify max(b) over () = b)", 2),
    ("duckdb", f"select max(b) from (with r as (select * from {ROWS}) select a * 2 as b from r where b = 4)", 4),
    ("redshift", f"select max(s) from (select a as k, id as b, sum(b) over (order by k, id) as s from {ROWS})", 3),
    ("snowflake", f"select max(s) from (select 100 as a, sum(a) over () as s from {ROWS})", 2),
    # arrays
    *[(dialect, f"select max(l[{first}]) from {LISTS}", 7) for dialect, first in
      (("snowflake", 0), ("postgres", 1), ("duckdb", 1))],
    ("snowflake", "arrays_overlap(array_construct(1, 2), array_construct(2))", True),
    ("postgres", "array[1, 2] @> array[3]", False),
    ("postgres", "string_to_array('a.b', '.')", ["a", "b"]),
    ("postgres", "string_to_array('', '.')", []),
    ("bigquery", "array_reverse([1, 2])", [2, 1]),
    ("trino", "repeat(1, 2)", [1, 1]),
    ("trino", "any_match(array[1, 2], x -> x = 2)", True),
    ("snowflake", "select column2 from values (1, 'a')", "a"),
    ("postgres", "select v.column2 from (values (1, 'a')) as v", "a"),
    ("duckdb", "select col1 from (values (1, 'a'))", "a"),
    # JSON is text
    ("snowflake", "object_construct('a', 1, 'b', null, 'c', object_construct('d', 'x'))", '{"a":1,"c":{"d":"x"}}'),
    ("snowflake", "object_construct('a', 1):a::int", 1),
    ("snowflake", "select to_json(object_construct(*)) from (select 1 as a) as t", '{"a":1}'),
    ("snowflake", "try_parse_json('{bad')", None),
    ("snowflake", "try_parse_json('{}')", "{}"),
    ("bigquery", """json_extract_array('{"l": [1, "x"]}', '$.l')""", ["1", "x"]),
    ("trino", """json_query('{"a": [1]}', 'lax $.a')""", "[1]"),
    # texts
    ("redshift", "concat('a', null)", None),
    ("trino", "split_part('a-b', '-', 5)", None),
    ("trino", "split_part('a-b', '-', 2)", "b"),
    ("trino", "if(1 > 2, 'a')", None),
    ("snowflake", "insert('abc', 2, 1, 'ZZ')", "aZZc"),
    ("snowflake", "regexp_replace('aAb', 'a', 'x', 1, 0, 'i')", "xxb"),
    ("postgres", "regexp_replace('aAb', 'a', 'x', 'gi')", "xxb"),
    ("duckdb", "regexp_extract('abc', '[0-9]')", ""),
    ("postgres", "'a.c' similar to '(a|b)_c%'", True),
    ("redshift", "'abc' similar to 'b'", False),
    ("duckdb", "'abc' similar to 'a.*'", True),
    ("postgres", "encode('a'::bytea, 'hex')", "61"),
]  # fmt: skip


def test_values_are_those_of_the_warehouse(tmp_path):
    given = {dialect for dialect, _, _ in VALUES}
    assert given == set(DIALECTS)
    assert not wrong_values(TableStore(tmp_path), VALUES)
