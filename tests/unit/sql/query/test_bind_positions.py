"""Where in a query a table may be, and how it is bound there."""

from __future__ import annotations

import pytest
from support.bound import bound

from tablestore_engine.sql.query.bind import bind

POSITIONS = {
    "comma": ("select * from a, b x, c", "select * from `@main.a` AS a, `@main.b` x, `@main.c` AS c"),
    "joins": (
        "select * from a left join b on a.i = b.i cross join c natural join d left semi join e on e.i = a.i",
        (
            "select * from `@main.a` AS a left join `@main.b` AS b on a.i = b.i cross join `@main.c` AS c"
            " natural join `@main.d` AS d left semi join `@main.e` AS e on e.i = a.i"
        ),
    ),
    "using": (
        "select * from a join b using (i), c",
        "select * from `@main.a` AS a join `@main.b` AS b using (i), `@main.c` AS c",
    ),
    "comma behind on": (
        "select * from a join b on f(a.i, b.i), c",
        "select * from `@main.a` AS a join `@main.b` AS b on f(a.i, b.i), `@main.c` AS c",
    ),
    "set operations": (
        "select * from a union all select * from b except (select * from c) order by 1",
        "select * from `@main.a` AS a union all select * from `@main.b` AS b except (select * from `@main.c` AS c) order by 1",  # noqa: E501
    ),
    "star except": ("select * except (x) from a", "select * except (x) from `@main.a` AS a"),
    "derived table": ("select * from (select * from a) x", "select * from (select * from `@main.a` AS a) x"),
    "parenthesized query": (
        "(select * from a) union (select * from b)",
        "(select * from `@main.a` AS a) union (select * from `@main.b` AS b)",
    ),
    "doubly parenthesized": (
        "select * from ((select * from a) union (select * from b)) x",
        "select * from ((select * from `@main.a` AS a) union (select * from `@main.b` AS b)) x",
    ),
    "nested joins": (
        "select * from (a join (b join c on 1 = 1) on 2 = 2) join d",
        "select * from (`@main.a` AS a join (`@main.b` AS b join `@main.c` AS c on 1 = 1) on 2 = 2) join `@main.d` AS d",  # noqa: E501
    ),
    "scalar subquery": (
        "select (select max(i) from a) from b",
        "select (select max(i) from `@main.a` AS a) from `@main.b` AS b",
    ),
    "in and exists": (
        "select * from a where i in (select i from b) and exists (select 1 from c)",
        "select * from `@main.a` AS a where i in (select i from `@main.b` AS b) and exists (select 1 from `@main.c` AS c)",  # noqa: E501
    ),
    "subquery in on, having, order by": (
        "select 1 from a join b on a.i in (select i from c) group by 1 having max(i) > (select 1 from d) order by (select 2 from e)",  # noqa: E501
        (
            "select 1 from `@main.a` AS a join `@main.b` AS b on a.i in (select i from `@main.c` AS c)"
            " group by 1 having max(i) > (select 1 from `@main.d` AS d) order by (select 2 from `@main.e` AS e)"
        ),
    ),
    "subquery in case in function": (
        "select coalesce(case when x then (select 1 from a) end, 2)",
        "select coalesce(case when x then (select 1 from `@main.a` AS a) end, 2)",
    ),
    "lateral subquery": (
        "select * from a, lateral (select * from b) l",
        "select * from `@main.a` AS a, lateral (select * from `@main.b` AS b) l",
    ),
    "lateral view": (
        "select * from a lateral view outer explode(a.x) e as y where y = 1",
        "select * from `@main.a` AS a lateral view outer explode(a.x) e as y where y = 1",
    ),
    "tablesample": (
        "select * from a tablesample (10 percent) repeatable (3) join b tablesample (5 rows) x",
        "select * from `@main.a` tablesample (10 percent) repeatable (3) AS a join `@main.b` tablesample (5 rows) x",
    ),
    "pivot": (
        "select * from a pivot (sum(x) for y in ('p', 'q')) where p > 1",
        "select * from `@main.a` AS a pivot (sum(x) for y in ('p', 'q')) where p > 1",
    ),
    "unpivot": (
        "select * from a unpivot include nulls (v for n in (x, y)) u",
        "select * from `@main.a` AS a unpivot include nulls (v for n in (x, y)) u",
    ),
    "values join": (
        "select * from values (1), (2) v(i) join a",
        "select * from values (1), (2) v(i) join `@main.a` AS a",
    ),
    "values in parentheses": (
        "select * from (values (1), (2)) v, a",
        "select * from (values (1), (2)) v, `@main.a` AS a",
    ),
    "function join": (
        "select * from range(3) r join a on r.id = a.i",
        "select * from range(3) r join `@main.a` AS a on r.id = a.i",
    ),
    "table argument": (
        "select * from f(table(a), x => table db.b)",
        "select * from f(table(`@main.a`), x => table `@db.b`)",
    ),
    "query argument": (
        "select * from f(table(select * from a))",
        "select * from f(table(select * from `@main.a` AS a))",
    ),
    "table statement": ("table db.a", "table `@db.a`"),
    "table in set operation": ("select 1 union table a", "select 1 union table `@main.a`"),
    "from first": ("from a select x where y = 1", "from `@main.a` AS a select x where y = 1"),
    "pipes": (
        "from a |> where x > 1 |> join b using (i) |> union all table c |> select y",
        "from `@main.a` AS a |> where x > 1 |> join `@main.b` AS b using (i) |> union all table `@main.c` |> select y",
    ),
    "windows": (
        (
            "select sum(x) over (partition by y order by z rows between 1 preceding and current row), max(x) over w"
            " from a window w as (partition by y)"
        ),
        (
            "select sum(x) over (partition by y order by z rows between 1 preceding and current row), max(x) over w"
            " from `@main.a` AS a window w as (partition by y)"
        ),
    ),
    "qualify": (
        "select * from a qualify row_number() over (order by i) = 1",
        "select * from `@main.a` AS a qualify row_number() over (order by i) = 1",
    ),
    "group by all": (
        "select x from a group by all limit 5",
        "select x from `@main.a` AS a group by all limit 5",
    ),
    "offset as a column": (
        "select offset from a where offset > 1 offset 5",
        "select offset from `@main.a` AS a where offset > 1 offset 5",
    ),
    "hints": ("select /*+ broadcast(a) */ * from a", "select /*+ broadcast(a) */ * from `@main.a` AS a"),
    "asof join": (
        "select * from a asof join b match_condition (a.t >= b.t) on a.i = b.i",
        "select * from `@main.a` AS a asof join `@main.b` AS b match_condition (a.t >= b.t) on a.i = b.i",
    ),
    "transform": (
        "select transform (x) using 'cat' as (y) from a",
        "select transform (x) using 'cat' as (y) from `@main.a` AS a",
    ),
    "mixed": (
        "select * from tmp join a on true join parquet.`/x` p on true",
        "select * from tmp join `@main.a` AS a on true join parquet.`/x` p on true",
    ),
    "columns called by keywords": (
        "select from, to, x where, y from, where from mails from where from = 1 and from.where > from.from",
        "select from, to, x where, y from, where from `@main.mails` from where from = 1 and from.where > from.from",
    ),
    "a select that begins with a column called by a keyword": (
        "select distinct where + from, a * from from t where x in (select from from u)",
        "select distinct where + from, a * from from `@main.t` AS t where x in (select from from `@main.u` AS u)",
    ),
    "an alias before from": ("select a from from t", "select a from from `@main.t` AS t"),
    "hints that name tables": (
        "select /*+ broadcast(db.t), merge(x, `u`, db.x) */ /* db.t */ * from db.t, u, db.x x",
        "select /*+ broadcast(t), merge(x, `u`, db.x) */ /* db.t */ * from `@db.t` AS t, `@main.u` AS u, `@db.x` x",
    ),
    "hints on tables of one name": (
        "select /*+ broadcast(a.t) */ * from a.t join b.t",
        "select /*+ broadcast(`@a.t`) */ * from `@a.t` join `@b.t`",
    ),
    "broken": ("select x from a where (", "select x from `@main.a` AS a where ("),
}


@pytest.mark.parametrize(("query", "expected"), POSITIONS.values(), ids=POSITIONS)
def test_bound_text(query: str, expected: str | None) -> None:
    assert bound(query) == (query if expected is None else expected)
    assert bind(query, lambda _: None).text == query, "without a known view nothing changes"
