"""Translations as texts; their values in Spark are in tests/functional/test_dialects.py."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.refusal import checked_dialect
from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("snowflake", 'select A, "Bee", c as Cee from DB.T', "SELECT a, `Bee`, c AS cee FROM db.t"),
        ("trino", 'select A, "Bee" from T', "SELECT a, `Bee` FROM t"),
        ("bigquery", 'select A, "text" from `T`', "SELECT A, 'text' FROM `T`"),
        ("duckdb", 'select A, "Bee" from T', "SELECT A, `Bee` FROM T"),
        ("postgres", "select a from `dev`.`Orders` as o", "SELECT a FROM `dev`.`Orders` AS o"),
        ("snowflake", "select v:Key.sub from `dev`.`t`", "SELECT GET_JSON_OBJECT(v, '$.Key.sub') FROM `dev`.`t`"),
        ("snowflake", "select a::varchar from t", "SELECT CAST(a AS STRING) FROM t"),
        ("databricks", "select try_cast(a as int), b::int from t", "SELECT TRY_CAST(a AS INT), CAST(b AS INT) FROM t"),
        ("databricks", "select datediff(a, b), a / b from t", "SELECT DATEDIFF(DAY, b, a), a / b FROM t"),
        ("trino", "select spark__md5(cast(a as string)) from t", "SELECT MD5(CAST(a AS STRING)) FROM t"),
        ("postgres", "select spark__timestampdiff(DAY, spark__date_trunc('DAY', a), b) from t",
         "SELECT TIMESTAMPDIFF(day, DATE_TRUNC('DAY', a), b) FROM t"),
        ("bigquery", "select spark__date_trunc('month', a), spark__array(1, 2) from t",
         "SELECT DATE_TRUNC('month', a), ARRAY(1, 2) FROM t"),
        ("redshift", "select a / 2.0 from t", "SELECT a / 2.0 FROM t"),
        ("snowflake", "select a from t where (a, b) not in (select c, d from u)",
         "SELECT a FROM t WHERE NOT (a, b) IN ( SELECT c, d FROM u )"),
        ("postgres", "select a from t where a = any (select b from u)",
         "SELECT a FROM t WHERE a IN ( SELECT b FROM u )"),
        ("trino", "with a as (with p as (select 1 as n) select * from p) select * from a",
         "WITH a AS ( WITH p AS ( SELECT 1 AS n ) SELECT * FROM p ) SELECT * FROM a"),
        ("snowflake", "select * from a, lateral flatten(input => a.l, outer => true) f",
         "SELECT * FROM a, LATERAL POSEXPLODE_OUTER(a.l) AS f(index, value)"),
        ("bigquery", "select count(distinct a) over (partition by b), count(a) over () from t",
         "SELECT SIZE(COLLECT_SET(a) OVER (PARTITION BY b)), COUNT(a) OVER () FROM t"),
        ("postgres", "select a::jsonb ->> 'k' from t", "SELECT GET_JSON_OBJECT(CAST(a AS STRING), '$.k') FROM t"),
        ("postgres", "select coalesce(j->'a'->>'b', 'c') from t",
         "SELECT COALESCE(GET_JSON_OBJECT(GET_JSON_OBJECT(j, '$.a'), '$.b'), 'c') FROM t"),
        ("duckdb", "select lower(j->'a'), abs(j->'b'->>'c') from t",
         "SELECT LOWER(GET_JSON_OBJECT(j, '$.a')), ABS(GET_JSON_OBJECT(GET_JSON_OBJECT(j, '$.b'), '$.c')) FROM t"),
        ("duckdb",
         "select from_json(a, '{\"x\": [\"DECIMAL(5,1)\"], \"y\": \"JSON\"}'), json_transform(a, '\"INT\"') from t",
         "SELECT FROM_JSON(a, 'STRUCT<`x`: ARRAY<DECIMAL(5, 1)>, `y`: STRING>'), FROM_JSON(a, 'INT') FROM t"),
        ("duckdb", "select printf('%.2f', 2.5), row(1, 'a')[2]",
         "SELECT FORMAT_STRING('%.2f', CAST(2.5 AS DOUBLE)), 'a'"),
        ("duckdb", "select a in l from t",
         "SELECT IF(l IS NULL OR a IS NULL, NULL, COALESCE(ARRAY_CONTAINS(l, a), FALSE)) FROM t"),
        ("bigquery", "select cast('1.5' as int64), cast(1.5 as int64)",
         "SELECT CAST('1.5' AS BIGINT), CAST(CAST(1.5 AS DECIMAL(38, 0)) AS BIGINT)"),
        ("bigquery", "select (json '{}').a", "SELECT GET_JSON_OBJECT(CAST('{}' AS STRING), '$.a')"),
        ("bigquery", "select int64(json '{}'.a.b), json '1'",
         "SELECT CAST(GET_JSON_OBJECT(CAST('{}' AS STRING), '$.a.b') AS BIGINT), CAST('1' AS STRING)"),
        ("bigquery", "select a, array_agg(o limit 1) as r from `s`.`t` as o group by 1",
         "SELECT a, SLICE(COLLECT_LIST(NAMED_STRUCT('v', STRUCT(o.*))).v, 1, 1) AS r FROM `s`.`t` AS o GROUP BY a"),
        ("postgres", "select to_char(a, 'HH:MI am') from t",
         "SELECT CONCAT(DATE_FORMAT(a, 'hh:mm '), LOWER(DATE_FORMAT(a, 'a'))) FROM t"),
        ("snowflake", "select parse_json(a)[1], array_to_string(parse_json(b)::array, '-') from t",
         ("SELECT GET_JSON_OBJECT(CAST(a AS STRING), '$[1]'), ARRAY_JOIN(FROM_JSON(CAST(b AS STRING), "
          "'ARRAY<STRING>'), '-', '') FROM t")),
        ("redshift", "select i.sku from (select json_parse(a) as p from t) o, o.p.items i",
         ("SELECT GET_JSON_OBJECT(i, '$.sku') FROM ( SELECT CAST(a AS STRING) AS p FROM t ) AS o LATERAL VIEW "
          "EXPLODE(FROM_JSON(GET_JSON_OBJECT(o.p, '$.items'), 'ARRAY<STRING>')) AS i")),
        ("postgres", "select a::timestamptz at time zone 'utc' from t",
         "SELECT ( CAST(CONVERT_TIMEZONE('UTC', CAST(CAST(a AS TIMESTAMP) AS TIMESTAMP_NTZ)) AS TIMESTAMP) ) FROM t"),
        ("postgres", "select a at time zone 'utc' at time zone 'europe/berlin' from t",
         ("SELECT ( CAST(CONVERT_TIMEZONE( 'Europe/Berlin', CAST(( CAST(CONVERT_TIMEZONE('UTC', CURRENT_TIMEZONE(), "
          "CAST(a AS TIMESTAMP_NTZ)) AS TIMESTAMP) ) AS TIMESTAMP_NTZ) ) AS TIMESTAMP) ) FROM t")),
        ("redshift", "select b at time zone 'utc' from (select a::timestamp as b from t) q",
         ("SELECT ( CAST(CONVERT_TIMEZONE('UTC', CURRENT_TIMEZONE(), CAST(b AS TIMESTAMP_NTZ)) AS TIMESTAMP) ) FROM ( "
          "SELECT CAST(a AS TIMESTAMP) AS b FROM t ) AS q")),
        ("postgres", "select a at time zone 'utc' from t",
         ("SELECT ( IF( CURRENT_TIMEZONE() IN ('UTC', 'Etc/UTC', 'GMT', 'Z'), a, RAISE_ERROR( 'AT TIME ZONE of a value "
          "whose type is not in the text (cast it to TIMESTAMP or to TIMESTAMPTZ)' ) ) ) FROM t")),
        ("duckdb", "select epoch(a::timestamp), epoch(a) from t",
         ("SELECT CAST(CAST(CONVERT_TIMEZONE('UTC', CURRENT_TIMEZONE(), CAST(a AS TIMESTAMP_NTZ)) AS TIMESTAMP) AS "
          "DOUBLE), CAST(CAST(a AS TIMESTAMP) AS DOUBLE) FROM t")),
        ("trino", "select decimal '-0.50', 100_000 from t", "SELECT CAST('-0.50' AS DECIMAL(2, 2)), 100000 FROM t"),
        ("bigquery", "select array_agg(distinct o.a ignore nulls order by a) over () from t as o",
         ("SELECT ARRAY_COMPACT( ARRAY_SORT(( COLLECT_SET(NAMED_STRUCT('n0', NOT a IS NULL, 'k0', a, 'v', o.a)) OVER "
          "() )).v ) FROM t AS o")),
        ("bigquery", "select array_concat_agg(a order by b limit 2), array_concat_agg(c) from t",
         ("SELECT FLATTEN( SLICE( ARRAY_COMPACT(ARRAY_SORT(COLLECT_LIST(NAMED_STRUCT('n0', NOT b IS NULL, 'k0', b, "
          "'v', a))).v), 1, 2 ) ), FLATTEN(COLLECT_LIST(c)) FROM t")),
        ("bigquery", "select make_interval(second => a + b), make_interval(1, 2, 3), make_interval(day => 3) from t",
         "SELECT MAKE_INTERVAL(0, 0, 0, 0, 0, 0, a + b), MAKE_INTERVAL(1, 2, 0, 3), MAKE_INTERVAL(0, 0, 0, 3) FROM t"),
        ("bigquery", "with q as (select 1 as k) select k, f(k).* except (b) from q order by k limit 5",
         ("WITH q AS ( SELECT 1 AS k ) SELECT k, _struct.* EXCEPT (b) FROM ( SELECT k, F(k) AS _struct FROM q ORDER "
          "BY k LIMIT 5 ) AS _rows")),
        ("bigquery", "select *, (select as struct 1 as a).* from t",
         ("SELECT * EXCEPT (_struct), _struct.* FROM ( SELECT *, ( SELECT STRUCT(1 AS a) ) AS _struct FROM t ) AS "
          "_rows")),
        ("duckdb", "select strptime(a, ['%d/%m/%Y', '%Y']), try_strptime(a, ['%Y']) from t",
         ("SELECT COALESCE(TRY_TO_TIMESTAMP(a, 'd/M/yyyy'), TO_TIMESTAMP(a, 'yyyy')), TRY_TO_TIMESTAMP(a, 'yyyy') "
          "FROM t")),
        ("duckdb", "select unnest(l, max_depth := 2) from t",
         "SELECT EXPLODE(FLATTEN(FILTER(l, _l -> NOT _l IS NULL))) FROM t"),
        ("duckdb", "select list_transform(l, x -> 'k'), list_filter(l, x -> x->>'a' = 'b') from t",
         "SELECT TRANSFORM(l, x -> 'k'), FILTER(l, x -> GET_JSON_OBJECT(x, '$.a') = 'b') FROM t"),
    ],
)  # fmt: skip
def test_a_query_becomes_sparks(dialect, text, expected):
    assert one_line(translate(text, dialect)) == expected


@pytest.mark.parametrize(
    ("dialect", "text", "named"),
    [
        ("snowflake", "select $1 from t", "column number $1, in line 1, column 8: $1."),
        (
            "bigquery",
            "select a from t where b = @c",
            "the parameter @c, which a model is not given (write {{ var('…') }}",
        ),
        ("bigquery", "select a from t where b = @c", ", in line 1, column 27: @c."),
        (
            "trino",
            "select a, decimal 'x' from t",
            "DECIMAL 'x', which is no number, in line 1, column 11: decimal 'x'.",
        ),
        (
            "duckdb",
            "select a,\n  product(a order by b) from t",
            "PRODUCT(… ORDER BY …), in line 2, column 3: product(a",
        ),
        ("duckdb", "select unnest(a, recursive := true) from t", "UNNEST with recursive, or with a depth beyond 2 ("),
        ("bigquery", "select a + 1, f(b).* from t", "the fields of a computed struct next to columns without names"),
        ("snowflake", "select * rename (a as b) from t", "RENAME in SELECT *"),
        ("bigquery", "select * except (b) replace (a + 1 as a) from t", "REPLACE in SELECT *"),
        ("bigquery", "select format_date('%C', d) from t", "%C in the pattern '%C'"),
        ("duckdb", "select strptime(s, '%d %a') from t", "the name of a day in the pattern '%d %a'"),
        ("postgres", "select j #>> path from t", "#> and #>> with a computed path"),
        ("snowflake", "select * from t match_recognize (pattern (x+) define x as a > 1)", "MATCH_RECOGNIZE"),
        ("snowflake", "select 1 from t start with a = 1 connect by prior a = b", "CONNECT BY"),
        ("snowflake", "select 1 from t, lateral flatten(input => a, recursive => true) f", "FLATTEN with recursive"),
        (
            "bigquery",
            "select extract(time from d) from t",
            "EXTRACT(TIME …), in line 1, column 8: extract(time from d)",
        ),
        ("bigquery", "select array(select as struct a, b from t)", "ARRAY(SELECT …) of several columns"),
        (
            "postgres",
            "select array(select a from t order by b limit 2)",
            "ARRAY(SELECT … ORDER BY …) with GROUP BY or LIMIT",
        ),
        ("postgres", "select regexp_replace(a, b, 'y') from t", "first match"),
        ("snowflake", "select x::time from t", "type TIME"),
        ("postgres", "select date_trunc('decade', x) from t", "the unit DECADE"),
        ("duckdb", "select list_slice(a, b, 2, 3) from t", "ARRAY_SLICE"),
        ("redshift", "select trunc(x) from t", "TRUNC with one argument"),
        ("trino", "select try(coalesce(a / b, 1)) from t", "TRY of this function"),
        ("postgres", "select array_agg(a order by b, c desc) from t", "ordered upwards by one column"),
        ("duckdb", "select a[1:3] from t", "a slice such as a[1:3]"),
        ("duckdb", "select list_sort(a)[1:3:2] from t", "a slice with a step"),
        ("trino", "select json_agg(a) from t", "JSON_AGG (write spark__to_json"),
        ("postgres", "select to_char(a, 'J') from t", "the pattern of a time 'J'"),
        ("postgres", "select to_char(a, 'IYYY-IDDD') from t", "the pattern of a time"),
        ("trino", "select to_hex(xxhash64(to_utf8(a))) from t", "XXHASH64, of which Spark's has other values"),
        ("bigquery", "select farm_fingerprint(a) from t", "FARM_FINGERPRINT, whose hash Spark does not have"),
        ("bigquery", "select json_keys(a) from t", "JSON_KEYS of all levels"),
        ("bigquery", "select json_set(a, '$.b.c', 1) from t", "JSON_SET with a path that is not one key"),
        ("postgres", "select jsonb_set(a, b, '1') from t", "JSONB_SET with a computed path"),
        ("snowflake", "select f.seq from t, lateral flatten(input => t.l) f", "the column SEQ of FLATTEN"),
        ("redshift", "select to_char(a, 'FM9,999.99') from t", "TO_CHAR of a number"),
        ("postgres", "select to_char(a, '999D99') from t", "TO_CHAR of a number by the pattern '999D99'"),
        ("postgres", "select to_char(a, '\"No. \"999') from t", "TO_CHAR of a number"),
        ("postgres", "select to_char(a, '990.0%') from t", "TO_CHAR of a number"),
        ("postgres", "select '{{1},{2}}'::int[]", "an array in a text with escapes, or of several dimensions"),
        ("bigquery", "select parse_date('%Y%%d', a) from t", "%% in front of a letter in the pattern"),
        ("bigquery", "select safe.regexp_contains(a, b) from t", "a computed regular expression in TRY or SAFE"),
        ("trino", "select try(regexp_extract(a, b, 1)) from t", "a computed regular expression in TRY or SAFE"),
        ("trino", "select format_datetime(a, 'xxxx-ww') from t", "w, x in the pattern"),
        ("bigquery", "select approx_quantiles(a, b) from t", "APPROX_QUANTILES without a constant"),
        ("bigquery", "select string_agg(a order by b limit 1) from t", "STRING_AGG with LIMIT"),
        ("bigquery", "select instr(a, 'b', -1) from t", "a search from the end"),
        ("snowflake", "select to_time(a) from t", "TO_TIME"),
        ("snowflake", "select rlike(a, 'b', 'x') from t", "parameters 'x' of REGEXP_LIKE"),
        ("duckdb", "select format('{}', a) from t", "FORMAT with braces"),
        ("duckdb", "select first(a order by b ignore nulls) from t", "FIRST with IGNORE NULLS"),
        (
            "trino",
            "select geometric_mean(distinct a) within group (order by a) from t",
            "GEOMETRIC_MEAN with WITHIN GROUP",
        ),
        ("snowflake", "select boolxor_agg(distinct a) from t", "BOOLXOR_AGG(DISTINCT …)"),
        ("snowflake", "select sum(distinct a) over () from t", "SUM(DISTINCT …) OVER (…)"),
        ("postgres", "select sum(a) over (order by b groups 2 preceding) from t", "column 32: groups 2 preceding."),
        ("duckdb", "select distinct a from t order by rank() over (order by b)", "SELECT DISTINCT … ORDER BY a window"),
        ("bigquery", "select format('%+g', a) from t", "%+g in the pattern '%+g' of FORMAT"),
        ("duckdb", "select product(a order by b) from t", "PRODUCT(… ORDER BY …)"),
        ("postgres", "select a at time zone 'x' from t", "AT TIME ZONE of a value whose type is not in the text"),
        ("snowflake", "select regexp_replace(a, 'b', 'c', 1, 2) from t", "the occurrence 2 of REGEXP_REPLACE"),
        ("bigquery", "select instr(a, 'b', 1, 2) from t", "the occurrence 2 of STR_POSITION"),
        (
            "trino",
            "select a from t full join unnest(t.l) as x(v) on v > 1",
            "UNNEST under a condition that has several",
        ),
        ("trino", "select max(a, 2) from t", "MAX(value, number)"),
        ("snowflake", "select typeof(a) from t", "TYPEOF"),
        ("snowflake", "select to_char(a, '9,999.00') from t", "TO_CHAR of a number"),
        ("snowflake", "select object_construct(a, b, c, d) from t", "OBJECT_CONSTRUCT with computed keys"),
        (
            "postgres",
            "select jsonb_build_object('k', '[1]') from t",
            "a JSON object of a part of JSON without a cast ('k')",
        ),
        ("snowflake", "select seq4() from t", "SEQ4 outside of TABLE(GENERATOR"),
        ("bigquery", "select safe.soundex(a) from t", "SAFE.SOUNDEX"),
        ("bigquery", "select net.reg_domain(a) from t", "NET.REG_DOMAIN"),
        ("postgres", "select regexp_matches(a, b) from t", "REGEXP_MATCHES with a computed pattern"),
        ("postgres", "select jsonb_strip_nulls(a) from t", "JSONB_STRIP_NULLS of JSON that the query does not build"),
        (
            "snowflake",
            "select * from t pivot(sum(b) for s in (any))",
            "PIVOT … IN (ANY), whose columns come from the data",
        ),
        ("bigquery", "select parse_date('%e', a) from t", "%e in a pattern"),
        ("postgres", "delete from t", "WITH or FROM, but DELETE"),
        ("duckdb", "pivot t on a using sum(b)", "the statement PIVOT without one column and its values"),
        ("duckdb", "pivot t on a in (1)", "PIVOT without GROUP BY of t, whose columns are not known"),
        ("duckdb", "pivot t on a in (1) using sum(b), max(b)", "several aggregates, of which one has no alias"),
        ("duckdb", "unpivot t on a, b", "the statement UNPIVOT (write SELECT … FROM t UNPIVOT (…))"),
        ("duckdb", "summarize t", "WITH or FROM, but SUMMARIZE"),
        ("bigquery", "select from where", "Expected table name but got where, in line 1, column 13"),
        ("snowflake", "select * from a asof join b match_condition(a.x >= b.x)", "ASOF JOIN"),
        ("snowflake", "select regexp_instr(a, 'b', 1, 2) from t", "the occurrence 2 of REGEXP_INSTR"),
        ("bigquery", "select format('%T', a) from t", "%T in the pattern '%T' of FORMAT"),
        ("trino", "select try(sum(a / b)) from t", "TRY of an aggregate of values that may fail"),
        ("postgres", "select age(a, b) from t", "AGE of anything but years, months, days"),
        ("postgres", "select jsonb_extract_path_text(a, b) from t", "a computed key of JSON"),
        ("postgres", "select convert_from(a, 'latin1') from t", "the character set 'latin1' of CONVERT_FROM"),
        ("duckdb", "select min(columns(*)) from t", "COLUMNS(…) of t, whose columns are not known"),
        (
            "duckdb",
            "select columns(c -> a = 1) from (select 1 as a)",
            "COLUMNS(…) by the condition a (name the columns",
        ),
        ("duckdb", "select coalesce(*columns('a')) from t", "*COLUMNS(…) (name the columns)"),
        ("duckdb", "select a from t order by columns(*)", "COLUMNS(…) outside of a select list or WHERE"),
        ("duckdb", "select columns('z') from (select 1 as a)", "COLUMNS('z'), which is no column"),
        ("postgres", "select 1; select 2", "several statements: a model is one query"),
        ("postgres", "select a,\n  b c d\nfrom t", "in line 2, column 7: b c >>>d<<<"),
        ("snowflake", "select 'a", "Error tokenizing"),
        ("duckdb", "select a,\n  l[2:3] as b from t", "in line 2, column 3: l[2:3]."),
        ("snowflake", "select x\n::time from t", "in line 1, column 8: x ::time."),
        ("trino", "select cast(x as time) from t", "in line 1, column 8: cast(x as time)."),
        (
            "postgres",
            "select a,\n\n sum(b) over (order by c rows between 1 preceding and current row exclude ties) from t",
            "in line 3, column",
        ),
        ("postgres", "select a || '{\"k\": 1}' from t", "the operator || of JSON"),
        ("postgres", "select a::jsonb - 1 from t", "the operator - of JSON and a value that is no text"),
        ("postgres", "select a::jsonb @> b from t", "the operator @> of JSON and a computed value"),
        ("postgres", "select j ->> k from t", "a computed key of JSON"),
        ("postgres", "select a from t fetch first 2 rows with ties", "WITH TIES"),
        ("duckdb", "select a from t limit 10%", "a limit in percent"),
        ("duckdb", "select 0x1F", "the number 0x1F (write it in decimal digits), in line 1, column 8: 0x1F."),
        ("duckdb", "select skewness(a) from t", "SKEWNESS"),
        ("snowflake", "select array_except(a, b) from t", "ARRAY_EXCEPT of arrays in which a value may occur twice"),
        ("postgres", "select interval '1 month 2 days'", "an interval of months and of days"),
        ("postgres", "select t + interval 'soon' from t", "the interval 'soon'"),
        ("snowflake", "select * ilike 'a%' from t", "ILIKE in SELECT *"),
        ("snowflake", "select initcap(a, b) from t", "INITCAP with computed delimiters"),
        ("postgres", "select decode(a, 'escape') from t", "DECODE of escape"),
        ("postgres", "select array_agg(distinct a order by b) from t", "ARRAY_AGG(DISTINCT a ORDER BY b)"),
        ("postgres", "select * from json_each(a) with ordinality", "WITH ORDINALITY of another"),
        ("trino", "select to_date(a, 'yyyy-ddd') from t", "the pattern 'yyyy-ddd' of TO_DATE"),
        ("duckdb", "select unnest({'a': 1})", "UNNEST of a struct"),
        ("duckdb", "select from_json(a, b) from t", "FROM_JSON with a structure that is computed"),
        ("duckdb", "select from_json(a, '[1, 2]') from t", "FROM_JSON with a structure that is computed"),
        (
            "redshift",
            "select listagg(distinct a, ',') within group (order by b) from t",
            "LISTAGG(DISTINCT a) ordered by another value, in line 1, column 8: listagg(distinct a, ',')",
        ),
    ],
)
def test_a_construct_without_equivalent_is_named(dialect, text, named):
    with pytest.raises(DbtRuntimeError) as error:
        translate(text, dialect)
    assert named in error.value.msg
    assert f"'{dialect}'" in error.value.msg
    assert "\x1b" not in error.value.msg


def test_an_alias_is_replaced_where_no_table_has_a_column_of_its_name():
    text = "with r as (select * from `s`.`t`) select a + 1 as b, sum(b) over () as c from r where b > 1"
    sum_of = "SUM(( {} )) OVER () AS c FROM r WHERE ( {} ) > 1"
    kept = one_line(translate(text, "snowflake"))
    assert "SUM(b) OVER ()" in kept
    both, one = {"a": "int", "B": "int"}, {"A": "int"}
    assert "SUM(b) OVER ()" in one_line(translate(text, "snowflake", lambda parts: both))
    assert "SUM(b) OVER ()" in one_line(translate(text, "postgres", lambda parts: one))
    inlined = one_line(translate(text, "snowflake", lambda parts: one if list(parts) == ["s", "t"] else None))
    assert sum_of.format("a + 1", "a + 1") in inlined


def test_dialects_have_names():
    assert checked_dialect("Snowflake") == "snowflake"
    assert checked_dialect("spark") is None
    assert checked_dialect(None) is None
    with pytest.raises(DbtRuntimeError, match="Did you mean 'snowflake'"):
        checked_dialect("snowflke")


@pytest.mark.parametrize(
    "rows",
    [
        "lateral flatten(input => parse_json(o.j)) k, lateral flatten(input => k.value) i",
        "table(flatten(parse_json(o.j))) k, table(flatten(k.value)) i",
    ],
)
def test_the_values_of_flattened_json_are_json(rows):
    made = one_line(translate(f"select i.value:sku from `s`.`t` o, {rows}", "snowflake"))
    assert "FROM_JSON(k.value, 'ARRAY<STRING>')" in made
    assert "POSEXPLODE" not in made


def test_the_values_of_a_flattened_array_are_no_json():
    rows = "lateral flatten(input => o.l) k, lateral flatten(input => k.value) i"
    made = one_line(translate(f"select i.value from `s`.`t` o, {rows}", "snowflake"))
    assert "LATERAL POSEXPLODE(k.value) AS i(index, value)" in made
