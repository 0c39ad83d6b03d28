"""QUALIFY, DISTINCT ON and UNPIVOT as texts; their rows in Spark are in tests/functional/test_dialect_values.py."""

from __future__ import annotations

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

NUMBER = "ROW_NUMBER() OVER (PARTITION BY {} ORDER BY c{})"


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("bigquery", "select * from t qualify row_number() over (partition by b order by c) = 1",
         (f"SELECT * EXCEPT (_kept) FROM ( SELECT *, ( {NUMBER.format('b', '')} = 1 ) AS _kept FROM t ) AS _t WHERE "
         "_kept")),
        ("bigquery", ("with q as (select 1) select distinct a as x from q where a > 0 qualify row_number() over "
         "(partition by x order by c) = 1 order by x, b limit 2"),
         ("WITH q AS ( SELECT 1 ) SELECT DISTINCT * EXCEPT (_kept, _order1) FROM ( SELECT a AS x, ( "
         f"{NUMBER.format('( a )', '')} = 1 ) AS _kept, ( b ) AS _order1 FROM q WHERE a > 0 ) AS _t WHERE _kept ORDER "
         "BY x, _order1 LIMIT 2")),
        ("postgres", "select distinct on (a) * from t order by a, c limit 2 offset 1",
         ("SELECT * EXCEPT (_kept, _order0, _order1) FROM ( SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY a "
         "NULLS LAST, c NULLS LAST) = 1 AS _kept, ( a ) AS _order0, ( c ) AS _order1 FROM t ) AS _t WHERE _kept "
         "ORDER BY _order0 NULLS LAST, _order1 NULLS LAST LIMIT 2 OFFSET 1")),
        ("bigquery", "select a, b as c from t order by rank() over (order by a), b",
         ("SELECT * EXCEPT (_order0, _order1) FROM ( SELECT a, b AS c, ( RANK() OVER (ORDER BY a) ) AS _order0, ( b ) "
          "AS _order1 FROM t ) AS _t ORDER BY _order0, _order1")),
        ("bigquery", "select * from t unpivot(v for n in (a, b)) as p",
         "SELECT * FROM ( SELECT * EXCEPT (v, n), v, n FROM t UNPIVOT(v FOR n IN (a, b)) ) AS p"),
        ("snowflake", "select * from t unpivot(v for n in (a, b))", "SELECT * FROM t UNPIVOT(v FOR n IN (a, b))"),
        ("postgres", "with c as not materialized (select 1 as x) select x from c",
         "WITH c AS ( SELECT 1 AS x ) SELECT x FROM c"),
    ],
)  # fmt: skip
def test_rows_are_kept_before_they_are_ordered_and_limited(dialect, text, expected):
    translated = one_line(translate(text, dialect))
    assert translated.replace("( PARTITION", "(PARTITION").replace(" )", ")") == expected.replace(" )", ")")


@pytest.mark.parametrize(
    ("joins", "expected"),
    [
        ("join u on t.k = u.k and u.n = (select min(n) from v where v.k = t.k) where t.a > 1 or t.a < 0",
         "JOIN u ON t.k = u.k WHERE ( t.a > 1 OR t.a < 0 ) AND u.n = ( SELECT MIN(n) FROM v WHERE v.k = t.k )"),
        ("inner join u on exists (select 1 from v where v.k = t.k) left join w on w.k = t.k",
         "INNER JOIN u ON TRUE LEFT JOIN w ON w.k = t.k WHERE EXISTS( SELECT 1 FROM v WHERE v.k = t.k )"),
        # A condition of an outer join keeps rows, and one in front of it must not lose those that it adds.
        ("left join u on u.n = (select min(n) from v)", "LEFT JOIN u ON u.n = ( SELECT MIN(n) FROM v )"),
        ("join u on u.n = (select 1) full join w on w.k = t.k",
         "JOIN u ON u.n = ( SELECT 1 ) FULL JOIN w ON w.k = t.k"),
    ],
)  # fmt: skip
def test_conditions_with_subqueries_of_inner_joins_are_in_where(joins, expected):
    assert one_line(translate(f"select * from t {joins}", "postgres")) == f"SELECT * FROM t {expected}"
