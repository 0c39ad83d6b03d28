"""Expressions that public dbt packages use, in the SQL of their warehouses, with the values that these document."""

from __future__ import annotations

from datetime import date, datetime

from support.dialect_values import wrong_values

from tablestore_engine import TableStore

MIDNIGHT = datetime(2024, 1, 1)
ROWS = "(select 1 as k, 1 as n, 'a' as s, null as x union all select 1, 2, 'b', 5)"
J = """parse_json('{"a":1,"b":"x","l":[10,20],"o":{"k y":true}}')"""
VALUES = [
    # JSON objects that are changed
    ("snowflake", f"object_delete({J}, 'l', 'o')", '{"a":1,"b":"x"}'),
    ("snowflake", """object_insert(parse_json('{"a":[1,{"b":null}]}'), 'c', true)""", '{"a":[1,{"b":null}],"c":true}'),
    ("snowflake", f"object_insert(object_construct('a', 1), 'a', {J}:b, true)", '{"a":"x"}'),
    ("snowflake", "object_insert(object_construct('a', 1), 'b', null)", '{"a":1}'),
    ("snowflake", "object_insert(object_construct('a', 1, 'b', 2), 'b', iff(true, null, 1), true)", '{"a":1}'),
    ("snowflake", "object_insert(object_construct('a', 1), iff(true, null, 'k'), 1)", '{"a":1}'),
    ("snowflake", f"object_pick({J}, array_construct('a'))", '{"a":1}'),
    ("bigquery", """json_set(parse_json('{"a":1}'), '$.b', 'x')""", '{"a":1,"b":"x"}'),
    ("bigquery", """json_remove(parse_json('{"a":1,"b":2}'), '$.b')""", '{"a":1}'),
    ("bigquery", """json_keys(parse_json('{"b":1,"a":{"c":2}}'), 1)""", ["a", "b"]),
    ("bigquery", """json_array('a', null, parse_json('{"x":1}'))""", '["a",null,{"x":1}]'),
    ("postgres", """jsonb_set('{"a":{"b":1}}'::jsonb, '{a,b}', '5')""", '{"a":{"b":5}}'),
    ("postgres", """jsonb_set('{"a":1}'::jsonb, '{z}', '5', false)""", '{"a":1}'),
    ("postgres", """jsonb_set('{"n":null,"a":1}'::jsonb, '{a,b}', '5')""", '{"n":null,"a":1}'),
    ("postgres", """jsonb_set('{"a":"{}"}'::jsonb, '{a,b}', '5')""", '{"a":"{}"}'),
    ("postgres", """jsonb_set('{"a":[1]}'::jsonb, '{a,b}', '5')""", '{"a":[1]}'),
    ("postgres", """jsonb_set('{"a.b":{"c,d":1}}'::jsonb, '{a.b,"c,d"}', '2')""", '{"a.b":{"c,d":2}}'),
    ("postgres", """jsonb_set('{"a":1}'::jsonb, '{a}', null)""", None),
    ("postgres", """jsonb_set('{"a":1}'::jsonb, '{a}', to_jsonb(nullif(1, 1)))""", None),
    ("postgres", """jsonb_set('{"a":1}'::jsonb, '{a}', to_jsonb('x'::text))""", '{"a":"x"}'),
    ("postgres", """'{"a.b":{"c":1}}'::jsonb #>> '{a.b,c}'""", "1"),
    ("redshift", "object('a', 1, 'b', null)", '{"a":1,"b":null}'),
    # kinds of JSON, and JSON of any value
    ("snowflake", f"is_object({J}) and not is_array({J}:o) and is_integer({J}:a)", True),
    ("snowflake", f"as_varchar({J}:a)", None),
    ("bigquery", """json_type(parse_json('"x"'))""", "string"),
    ("bigquery", """string(parse_json('"a"'))""", "a"),
    ("bigquery", f"select to_json_string(t) from {ROWS} as t where n = 1", '{"k":1,"n":1,"s":"a","x":null}'),
    ("bigquery", "to_json_string('a') || to_json_string(null) || to_json_string(1.5)", '"a"null1.5'),
    ("postgres", "to_jsonb('a'::text)", '"a"'),
    ("postgres", "coalesce(to_jsonb(null::int), to_json(null::text), '0')", "0"),
    ("postgres", "jsonb_build_object('k', to_jsonb('a'::text), 'n', to_jsonb(null::int))", '{"k":"a","n":null}'),
    ("postgres", "to_jsonb('2024-01-01 00:00:00.123456'::timestamp) #>> '{}'", "2024-01-01T00:00:00.123456Z"),
    ("bigquery", "to_json_string(struct(datetime '2024-01-01 00:00:00.000001' as t))",
     '{"t":"2024-01-01T00:00:00.000001Z"}'),
    ("trino", "select json_format(cast(x as json)) from (values (array['p'])) t(x)", '["p"]'),
    ("trino", "cast(map(array['a'], array[1]) as json)", '{"a":1}'),
    # whole rows
    ("bigquery", (f"select max(q.s) from (select u.* from (select array_agg(r order by n desc limit 1)[offset(0)] u "
     f"from {ROWS} r group by k)) q"), "b"),
    ("postgres", f"select (array_agg(t order by n desc))[1].s from {ROWS} t", "b"),
    # FLATTEN
    ("snowflake", (f"select listagg(f.path, ',') within group (order by f.key) from (select {J} as v) t, "
     "lateral flatten(input => t.v) f"), "a,b,l,o"),
    ("snowflake", f"select f.path from (select {J} as v) t, lateral flatten(t.v, 'o') f", "o['k y']"),
    ("snowflake", ("select max(f.this[0]) from (select array_construct(1, 2) as l) t, lateral flatten(input => t.l) f "
     "where f.path = '[1]'"), 1),
    ("snowflake", """select max(f.key) from (select '{"q":1}' as j) t, lateral flatten(input => t.j) f""", "q"),
    ("snowflake", ("select listagg(f.value, ',') from (values (parse_json('[1]')), (parse_json('{\"a\":2}'))) t(v), "
     "lateral flatten(input => parse_json(t.v), mode => 'ARRAY') f"), "1"),
    ("snowflake", ("select listagg(f.value, ',') from (values (parse_json('[1]')), (parse_json('{\"a\":2}'))) t(v), "
     "lateral flatten(input => parse_json(t.v), mode => 'OBJECT') f"), "2"),
    # times of texts and of numbers, sums that stay dates
    ("snowflake", "select max(to_timestamp(x)) from (values ('1704067200000'), ('2024-01-01')) t(x)", MIDNIGHT),
    ("snowflake", "select to_timestamp_ntz(x) from (values ('1704067200')) t(x)", MIDNIGHT),
    ("snowflake", "select to_timestamp(x) from (values ('2024-01-01'::date)) t(x)", MIDNIGHT),
    ("snowflake", "try_to_timestamp('1700000000000')", datetime(2023, 11, 14, 22, 13, 20)),
    ("snowflake", "select dateadd(day, n, d) from (values (3, '2024-01-01'::date)) t(n, d)", date(2024, 1, 4)),
    ("snowflake", "select dateadd(week, n, d) from (values (1, '2024-01-01 10:00:00'::timestamp)) t(n, d)",
     datetime(2024, 1, 8, 10)),
    ("trino", "select date_add('day', n, d) from (values (1, date '2024-01-01')) t(n, d)", date(2024, 1, 2)),
    ("bigquery", "date_trunc(cast('2024-05-10 01:00:00' as timestamp), month)", datetime(2024, 5, 1)),
    ("bigquery", "parse_timestamp('%Y-%m-%dT%H:%M:%E*SZ', '2024-01-01T00:00:00Z')", MIDNIGHT),
    ("bigquery", "parse_timestamp('%Y-%m-%dT%H:%M:%E*SZ', '2024-01-01T00:00:00.25Z')",
     datetime(2024, 1, 1, 0, 0, 0, 250000)),
    ("postgres", "'2024-01-31'::date + interval '1 month - 1 day'", date(2024, 2, 28)),
    ("postgres", "to_timestamp(1704067200) at time zone 'America/New_York'", datetime(2023, 12, 31, 19)),
    # patterns with parts that Spark has not
    ("bigquery", "format_date('%G-W%V, %A %e', date '2021-01-03')", "2020-W53, Sunday  3"),
    ("bigquery", """format_date('"%G-W%V"%%', date '2021-01-03')""", '"2020-W53"%'),
    ("bigquery", "format_date('%Y%%a', date '2021-01-03')", "2021%a"),
    ("postgres", "to_char('2024-01-05'::date, 'YYYY-\"Day\"-DD')", "2024-Day-05"),
    ("postgres", "to_char('2024-05-05'::date, 'YYYY-MM-01')", "2024-05-01"),
    ("bigquery", "format_date('%U|%W|%u|%w', date '2024-12-31')", "52|53|2|2"),
    ("postgres", "to_char('2024-01-05'::date, 'Day')", "Friday   "),
    ("postgres", "to_char('2024-05-05'::date, 'FMMONTH YYYY, FMDD')", "MAY 2024, 5"),
    ("postgres", "to_char('2024-01-05 15:04:05'::timestamp, 'dd-Mon-yyyy hh24:mi Dy ID')", "05-Jan-2024 15:04 Fri 5"),
    ("postgres", "to_char('2024-12-31'::date, 'IYYY-\"W\"IW WW W')", "2025-W01 53 5"),
    ("redshift", "to_char('2024-01-05'::date, 'MON')", "JAN"),
    ("duckdb", "strftime(date '2021-01-03', '%G-W%V')", "2020-W53"),
    ("trino", "date_format(date '2024-01-05', '%x-%v')", "2024-01"),
    # SAFE and TRY
    ("bigquery", "coalesce(safe.div(1, 0), safe.sqrt(-1), safe.ln(0), safe.div(7, 2))", 3),
    ("bigquery", "safe.substr('abc', 0, -2)", None),
    ("bigquery", "coalesce(safe.left('abc', -1), safe.right('abc', -1), safe.left('abc', 2))", "ab"),
    ("bigquery", "safe.split('a.b', '.')[safe_offset(1)]", "b"),
    ("bigquery", "safe.datetime('x')", None),
    ("bigquery", "upper(safe.regexp_extract('a=b', 'a=(.)'))", "B"),
    ("trino", "try(from_iso8601_timestamp('x'))", None),
    ("trino", """try(cast(json_extract_scalar('{"a":"x"}', '$.a') as double))""", None),
    ("trino", "try(date_diff('day', cast('x' as date), date '2024-01-01'))", None),
    ("trino", "try(regexp_extract('a=1', 'a=(.)', 1))", "1"),
    ("trino", "try(url_decode('%zz'))", None),
    # lists and texts
    ("bigquery", "split('abc', '')", ["a", "b", "c"]),
    ("bigquery", "split('', '')", [""]),
    ("bigquery", "array_is_distinct([1, 1])", False),
    ("trino", "split('a.b.c', '.', 2)", ["a", "b.c"]),
    ("duckdb", "list_where([1, 2, 3], [true, false, true])", [1, 3]),
    ("duckdb", "list_select([1, 2, 3], [1, 3])", [1, 3]),
    ("duckdb", "list_resize([1], 2, 0)", [1, 0]),
    ("duckdb", "list_aggregate(['a', 'b'], 'string_agg', '-')", "a-b"),
    ("postgres", "encode(digest('a', 'md5'), 'hex')", "0cc175b9c0f1b6a831c399e269772661"),
    ("redshift", "crc32('a')", "e8b7be43"),
    ("redshift", "trunc('2024-01-15 10:00:00'::timestamp)", date(2024, 1, 15)),
    ("redshift", "trunc(-1.57)", -1),
    ("redshift", "trunc(1.9) / 2", 0.5),
    ("redshift", "trunc(-1.5::float) / 2", -0.5),
    ("redshift", "trunc(1e30::float8)", 1e30),
    ("redshift", "trunc('7.89'::decimal(10, 2)) / 4", 1.75),
    ("postgres", """'{a,"b,c", x y ,"null"}'::text[]""", ["a", "b,c", "x y", "null"]),
    ("postgres", "coalesce(null, '{}'::text[])", []),
    ("postgres", """'{a,"b",null}'::text[]""", ["a", "b", None]),
    ("bigquery", "select approx_top_count(x, 1)[offset(0)].value from unnest(['a', 'a', 'b']) x", "a"),
]  # fmt: skip


def test_expressions_of_packages_have_the_values_of_their_warehouse(tmp_path):
    wrong = wrong_values(TableStore(tmp_path), VALUES)
    assert wrong == []
