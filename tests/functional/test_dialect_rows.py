"""Parts of texts, sums of lists, spans of time, unions by name and arrays of structs: the values of their warehouses.

Those of DuckDB are what DuckDB 2.0 gives.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.dialect_values import wrong_values

from dbt.adapters.tablestore.dialect.translate import translate
from tablestore_engine import TableStore

pytestmark = pytest.mark.spark

LISTS = "(select 1 as id, spark__array(7, 8) as l union all select 2, spark__array()) as o"
VALUES = [
    ("snowflake", "strtok('a.b.c', '.', 1)", "a"),
    ("snowflake", "strtok('user@snowflake.com', '@.', 2)", "snowflake"),
    ("snowflake", "strtok('user@snowflake.com', '@.', 4)", None),
    ("snowflake", "strtok('..a..b', '.', 2)", "b"),
    ("snowflake", "strtok('a b')", "a"),
    ("snowflake", "strtok('x]y^z-w', '^]-', 4)", "w"),
    ("snowflake", "strtok('ab', '.', 0)", None),
    ("snowflake", "strtok('a.b', '')", "a.b"),
    ("snowflake", "strtok('', '')", None),
    ("snowflake", "strtok(null, '.')", None),
    ("snowflake", "select max(strtok(t, '.', n)) from (values ('a.b', 2), ('c', 2)) as v(t, n)", "b"),
    ("snowflake", "strtok_to_array('a.b c', ' .')", ["a", "b", "c"]),
    ("redshift", "replicate('ab', 3)", "ababab"),
    ("trino", "none_match(array[1, 2], x -> x > 2)", True),
    ("trino", "none_match(array[1, 3], x -> x > 2)", False),
    ("trino", "none_match(array[1, null], x -> x > 2)", None),
    ("trino", "none_match(array[3, null], x -> x > 2)", False),
    ("duckdb", "list_sum([1, 2])", 3),
    ("duckdb", "list_sum([9223372036854775807, 1])", Decimal(9223372036854775808)),
    ("duckdb", "list_sum([1.25, 2, null])", Decimal("3.25")),
    ("duckdb", "list_sum([0.1::double, 0.2])", 0.1 + 0.2),
    ("duckdb", "list_sum([null, 4])", 4),
    ("duckdb", "list_sum([]::int[])", None),
    ("duckdb", "list_sum(null::int[])", None),
    # weeks of Redshift begin on Sunday
    ("redshift", "datediff(week, '2024-01-06'::date, '2024-01-07'::date)", 1),
    ("redshift", "datediff(week, '2024-01-07'::date, '2024-01-13'::date)", 0),
    ("redshift", "datediff(week, '2024-01-07 10:00'::timestamp, '2024-01-06 11:00'::timestamp)", -1),
    ("redshift", "datediff(week, '2009-01-01'::date, '2009-12-31'::date)", 52),
    # whole months end on the last day of a shorter one; DuckDB counts weeks between days
    ("duckdb", "date_diff('week', timestamp '2026-01-03 23:00:00', timestamp '2026-01-10 01:00:00')", 1),
    ("duckdb", "date_diff('week', date '2026-01-03', date '2026-01-06')", 0),
    ("duckdb", "date_sub('week', timestamp '2026-01-03 23:00:00', timestamp '2026-01-10 01:00:00')", 0),
    ("duckdb", "date_sub('month', date '2024-03-31', date '2024-02-29')", -1),
    ("duckdb", "date_sub('year', date '2024-02-29', date '2025-02-28')", 1),
    ("trino", "date_diff('month', date '2024-01-31', date '2024-02-29')", 1),
    ("trino", "date_diff('month', timestamp '2024-01-31 10:00:00', timestamp '2024-02-29 09:00:00')", 0),
    ("trino", "date_diff('quarter', date '2024-11-30', date '2025-02-28')", 1),
    # arrays as tables
    ("snowflake", f"select sum(f.value * 10 + f.index) from {LISTS}, table(flatten(o.l)) f", 151),
    ("snowflake", f"select sum(f.value * 10 + f.index) from {LISTS}, lateral flatten(o.l) f", 151),
    ("snowflake", f"select sum(f.value) from {LISTS} join table(flatten(input => o.l)) f on f.value > 7", 8),
    ("redshift", f"select sum(x * 10 + i) from {LISTS}, o.l as x at i", 151),
    ("duckdb", f"select sum(x) from {LISTS}, unnest(o.l) as x", 15),
    ("duckdb", f"select sum(x.unnest) from {LISTS}, unnest(o.l) as x", 15),
    ("duckdb", "select sum(g) from generate_series(1, 3) as g", 6),
    ("bigquery", f"select sum(x * 10 + n) from {LISTS}, unnest(o.l) as x with offset as n", 151),
    # spans of time
    ("duckdb", "time_bucket(interval '2 weeks', date '2024-01-05')", date(2024, 1, 1)),
    ("duckdb", "time_bucket(interval '2 weeks', date '1999-12-31')", date(1999, 12, 20)),
    ("duckdb", "time_bucket(interval '10 days', timestamp '2024-02-29 23:59:59')", datetime(2024, 2, 26)),
    ("duckdb", "time_bucket(interval '1 day', timestamp '1969-12-31 23:59:59')", datetime(1969, 12, 31)),
    ("duckdb", "time_bucket(interval '7 hours', timestamp '1969-12-31 23:59:59.5')", datetime(1969, 12, 31, 22)),
    ("duckdb", "time_bucket(interval '15 minutes', timestamp '2024-01-05 10:07:00', timestamp '2000-01-01 00:01:00')",
     datetime(2024, 1, 5, 10, 1)),
    ("duckdb", "time_bucket(interval '0.5 seconds', timestamp '2024-01-01 00:00:00.7')",
     datetime(2024, 1, 1, 0, 0, 0, 500000)),
    ("duckdb", "time_bucket(interval 3 month, timestamp '2024-01-05 10:00:00')", datetime(2024, 1, 1)),
    ("duckdb", "time_bucket(interval '5 months', date '1999-01-05')", date(1998, 10, 1)),
    ("duckdb", "time_bucket(interval '1 quarter', date '2024-05-31')", date(2024, 4, 1)),
    ("duckdb", "time_bucket(interval '5 years', date '1999-05-31')", date(1995, 1, 1)),
    ("duckdb", "time_bucket(interval '3 months', date '2024-02-02', date '2023-02-15')", date(2024, 2, 1)),
    ("duckdb", "time_bucket(interval '1 week', date '2024-05-31', date '2017-12-31')", date(2024, 5, 26)),
    ("duckdb", "time_bucket(interval '1 week', timestamp '2024-01-01 00:00:00', timestamp '2023-12-31 12:00:00')",
     datetime(2023, 12, 31, 12)),
    ("duckdb", "time_bucket(interval '1 month', date '2024-01-05', interval '3 days')", date(2024, 1, 4)),
    ("duckdb", "time_bucket(interval '2 hours', timestamp '2024-01-02 10:30:00', interval '45 minutes')",
     datetime(2024, 1, 2, 8, 45)),
    ("duckdb", "time_bucket(interval '5 hours', date '2024-01-03')", date(2024, 1, 2)),
    ("duckdb", "select time_bucket(interval '1 week', d) from (select date '2024-01-03' as d)", date(2024, 1, 1)),
    ("duckdb", "select time_bucket(interval '5 hours', d) = date '2024-01-02' from (select date '2024-01-03' as d)",
     True),
    ("duckdb", "select time_bucket(interval '2 years', d) from (select timestamp '2025-01-03 10:00:00' as d)",
     datetime(2024, 1, 1)),
    ("postgres", "date_bin('15 minutes', timestamp '2024-01-05 10:07:00', timestamp '2001-01-01')",
     datetime(2024, 1, 5, 10)),
    ("postgres", "date_bin('1 day', timestamp '2000-01-05 10:07:00', timestamp '2001-01-01 12:00:00')",
     datetime(2000, 1, 4, 12)),
    ("snowflake", "time_slice('1969-12-31 23:59:30'::timestamp, 15, 'MINUTE')", datetime(1969, 12, 31, 23, 45)),
]  # fmt: skip
ABC = "select 1 as a, 2 as b"
Z = "select 'z' as z"
STRUCTS = "unnest([struct(1 as a, 'x' as b), struct(2, 'y')])"
ITEMS = "(select 7 as id, [struct(1 as a, 2 as b)] as l) t"
ROWS = [
    ("bigquery", "select * from unnest([7, 8]) as x with offset", ["x", "offset"], [(7, 0), (8, 1)]),
    ("duckdb", "select * from unnest([7]) as x, generate_series(1, 1) as g", ["x", "g"], [(7, 1)]),
    ("duckdb", f"{ABC} union all by name select 2 as B, 3 as c", ["a", "b", "c"], [(1, 2, None), (None, 2, 3)]),
    ("duckdb", f"{ABC} union by name select 2 as b, 1 as a", ["a", "b"], [(1, 2)]),
    ("duckdb", f"{ABC} union all by name select 3 as b, 4 as a order by b desc", ["a", "b"], [(4, 3), (1, 2)]),
    ("duckdb", f"with c as ({ABC}) select * exclude (a) from c union all by name (from c) union all by name {Z}",
     ["b", "a", "z"], [(2, None, None), (2, 1, None), (None, None, "z")]),
    ("duckdb", "select * from (values (1, 2)) as t(x, y) union all by name select t.* from (values (3)) as t(y)",
     ["x", "y"], [(1, 2), (None, 3)]),
    ("snowflake", f"{ABC} union all by name select 3 as B, 4 as A", ["a", "b"], [(1, 2), (4, 3)]),
    ("bigquery", f"{ABC} union all by name select 3 as b, 4 as a", ["a", "b"], [(1, 2), (4, 3)]),
    ("bigquery", f"select * from {STRUCTS}", ["a", "b"], [(1, "x"), (2, "y")]),
    ("bigquery", f"select * from {STRUCTS} as s", ["a", "b"], [(1, "x"), (2, "y")]),
    ("bigquery", f"select * from {STRUCTS} with offset", ["a", "b", "offset"], [(1, "x", 0), (2, "y", 1)]),
    ("bigquery", f"select s.b, o from {STRUCTS} as s with offset as o where s.a = o + 1", ["b", "o"],
     [("x", 0), ("y", 1)]),
    ("bigquery", f"select s, to_json_string(s) as j from {STRUCTS} as s where a = 1", ["s", "j"],
     [((1, "x"), '{"a":1,"b":"x"}')]),
    ("bigquery", f"select * from {ITEMS}, {STRUCTS} as s where s.a > 1", ["id", "l", "a", "b"],
     [(7, [(1, 2)], 2, "y")]),
    ("bigquery", f"select id, a + b as c from {ITEMS}, unnest(t.l)", ["id", "c"], [(7, 3)]),
    ("bigquery", f"select x.a from {ITEMS} cross join unnest(t.l) as x", ["a"], [(1,)]),
]  # fmt: skip
SOURCES = [
    ("bigquery", "select x from (select [1,2,3] l) t join unnest(t.l) as x on x > 1", [(2,), (3,)]),
    ("bigquery",
     ("select t.id, x from (select 1 id, [1,2,3] l union all select 2, [0]) t left join "
      "unnest(t.l) as x on x > t.id order by 1,2"),
     [(1, 2), (1, 3), (2, None)]),
    ("bigquery",
     ("select x.v from (select [struct(1 as k, 'a' as v), struct(2 as k, 'b' as v)] l) t left "
      "join unnest(t.l) as x on x.k = 2"),
     [("b",)]),
    ("bigquery", "select x from (select [1,2] l) t left join t.l as x on true", [(1,), (2,)]),
    ("trino", "select v from (select array[1,2] l) t left join unnest(t.l) as x(v) on v > 5", [(None,)]),
    ("postgres", "select v from (select array[1,2] l) t left join lateral unnest(t.l) as x(v) on x.v > 1", [(2,)]),
    ("redshift", "select x from (select 1 id, spark__array(1,2) l) t left join t.l as x on true", [(1,), (2,)]),
    ("redshift", "select id, x from (select 1 id, spark__array(1,2) l) t left join t.l as x on x > 1", [(1, 2)]),
    ("redshift",
     """select o.id, x.a, x.b.c from (select 1 id, json_parse('[{"a":5,"b":{"c":"z"}},{"a":6}]') l) o, o.l as x""",
     [(1, "5", "z"), (1, "6", None)]),
    ("redshift",
     """select y from (select json_parse('[{"p":[1,2]},{"p":[3]}]') l) o, o.l as x, x.p as y""",
     [("1",), ("2",), ("3",)]),
    ("redshift", "select x from (select 1 id, json_parse('[]') l) o left join o.l as x on true", [(None,)]),
    ("trino", "select a, b from unnest(array[row(1,'a'), row(2,'b')]) as t(a,b)", [(1, "a"), (2, "b")]),
    ("trino",
     ("""select a, b from (select cast(json_parse('[{"a":1,"b":"x"}]') as array(row(a integer,b """
      "varchar))) l) t cross join unnest(t.l) as x(a,b)"),
     [(1, "x")]),
    ("trino",
     "select x.a, x.c from (select array[row(1,'a',true)] l) t left join unnest(t.l) as x(a,b,c) on true",
     [(1, True)]),
    ("snowflake",
     "select s.index, s.value from (select 'a.b' x) t, lateral split_to_table(t.x, '.') s",
     [(1, "a"), (2, "b")]),
    ("snowflake", "select value from table(strtok_split_to_table('a b-c', ' -'))", [("a",), ("b",), ("c",)]),
    ("snowflake",
     ("""select f.value from (select parse_json('{"a":{"b":[1,2]}}') v) t, lateral flatten(input """
      "=> t.v, path => 'a.b') f"),
     [("1",), ("2",)]),
    ("postgres",
     "select t.id, s.w from (select 1 id, 'a b' v) t, regexp_split_to_table(t.v, ' ') as s(w)",
     [(1, "a"), (1, "b")]),
    ("postgres",
     "select t.id, s from (select 1 id, 'a b' v) t cross join lateral string_to_table(t.v, ' ') as s",
     [(1, "a"), (1, "b")]),
    ("trino", "select * from table(sequence(1,3))", [(1,), (2,), (3,)]),
]  # fmt: skip
"""Rows that are made of a value in FROM."""
REFUSED = [
    ("trino", "date_diff(u, a, b) from t", "the unit U of a time"),
    ("trino", "k from t cross join unnest(t.m) with ordinality as x(k, v, o)", "WITH ORDINALITY of a map, or of rows"),
    ("postgres", "unnest(a), b, unnest(c) from t", "several UNNEST in one select list"),
    ("redshift", "v from t, unpivot t.o as v at a", "AT outside of FROM"),
    ("snowflake", "strtok('a', d) from t", "STRTOK with computed delimiters"),
    ("duckdb", "time_bucket(interval '1 month 2 days', d) from t", "of months and of days"),
    ("duckdb", "time_bucket(interval '-1 day', d) from t", "the width -1 DAY"),
    ("duckdb", "time_bucket(w, d) from t", "a computed width"),
    ("duckdb", "time_bucket(interval '1 day', d, 'Europe/Berlin') from t", "origin that is a text or a column"),
    ("postgres", "date_bin('1 month', t.d, t.d) from t", "DATE_BIN by months"),
    ("duckdb", "* from t union all by name select 1 as a", "UNION BY NAME of t, whose columns are not known"),
    ("duckdb", "1 as a union all by name select 1 + 1", r"the column 1 \+ 1, which has no name"),
    ("duckdb", "1 as a, 2 as A union all by name select 1 as a", "two columns of one name"),
    ("bigquery", "1 as a union all by name select 1 as b", r"other columns \(a, b on one side\)"),
    ("bigquery", "1 as a full union all by name select 1 as b", "with FULL"),
]


def test_values_are_those_of_the_warehouse(tmp_path):
    assert wrong_values(TableStore(tmp_path), VALUES) == []


def test_rows_are_those_of_the_warehouse(tmp_path):
    store = TableStore(tmp_path)
    for dialect, query, columns, rows in ROWS:
        frame = store.sql(translate(query, dialect))
        assert frame.columns == columns, query
        assert [tuple(row) for row in frame.collect()] == rows, query


def test_rows_of_values_in_from_are_those_of_the_warehouse(tmp_path):
    store = TableStore(tmp_path)
    for dialect, query, rows in SOURCES:
        assert sorted(map(tuple, store.sql(translate(query, dialect)).collect()), key=repr) == rows, query


def test_a_star_has_the_columns_of_its_table(tmp_path):
    def known(parts):
        return {"v": "int", "W": "int"} if parts == ["s", "t"] else None

    text = translate("select * from s.t union all by name select 3 as w, 4 as x", "duckdb", known)
    store = TableStore(tmp_path)
    store.execute("CREATE SCHEMA s")
    store.execute("CREATE TABLE s.t AS SELECT 1 AS v, 2 AS W")
    frame = store.sql(text)
    assert frame.columns == ["v", "W", "x"]
    assert [tuple(row) for row in frame.collect()] == [(1, 2, None), (None, 3, 4)]


@pytest.mark.parametrize(("dialect", "text", "reason"), REFUSED)
def test_other_forms_are_named(dialect, text, reason):
    with pytest.raises(DbtRuntimeError, match=reason):
        translate(f"select {text}", dialect)


def test_a_sum_of_many_digits_is_refused(tmp_path):
    wrong = wrong_values(TableStore(tmp_path), [("duckdb", "list_sum([1.12345678::decimal(18, 8)])", None)])
    assert "more than 6 digits behind the point" in wrong[0][2]
