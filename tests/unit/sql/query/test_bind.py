"""Queries bound to views: exactly the names of tables change.

In the tables below a view is called like its table in capitals behind a ``@``: ``@db.orders``.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, count, zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.sql.query.bind import Binding, TableReference, bind, bind_expression, references
from tablestore_engine.sql.structure.structure import TimeTravel

CURRENT = "main"
UNKNOWN = {"tmp", "unmanaged"}


def resolve(reference: TableReference) -> Binding | None:
    if reference.name in UNKNOWN:
        return None
    database = reference.database or CURRENT
    return Binding(f"@{database}.{reference.name}", database)


def bound(query: str) -> str:
    return bind(query, resolve).text


UNCHANGED = [
    "select 1",
    "select * from tmp",
    "select * from unmanaged join tmp using (id)",
    "select * from parquet.`/data/x.parquet`",
    "select * from delta.`s3://b/t` join csv.`a/b.csv` c",
    "select * from other_catalog.db.t",
    "select * from range(10)",
    "select * from explode(array(1, 2)) as t(c)",
    "select * from values (1, 'a'), (2, 'b') as t(id, name)",
    "values (1), (2)",
    "with t as (select 1 as a) select * from t",
    "with t(a) as (select 1) select t.a from t",
    "with t (select 1 as a) select * from t",
    "with a as (select 1 as x), b as (select * from a) select * from b join a",
    "with A as (select 1) select * from a",
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 5) select * from r",
    "with recursive r max recursion level 10 as (select 1 n union all select n + 1 from r) select * from r",
    "select extract(year from d), trim(both 'x' from s), trim(from s), substring(s from 2 for 3)",
    "select a is distinct from b, a is not distinct from c",
    "select overlay(s placing 'x' from 1)",
    "select 'from t', \"join t\", `from t` -- from t",
    "select /* from t */ 1",
    "select x.from, x.join from tmp x",
    "select limit, offset from tmp",
    "select * from tmp lateral view explode(a) e as x, y",
    "select * from identifier(:name)",
    "select * from identifier('t' || :name)",
    "select * from identifier('no name')",
    "select * from identifier('t.')",
    "this is not SQL at all (from",
    "",
]


def test_changes_of_a_table():
    query = (
        "select c.id, o.v from table_changes('db.orders', 1, date '2024-01-01' + 1) c join db.orders o on c.id = o.id"
    )
    expected = "select c.id, o.v from `@db.orders` c join `@db.orders` o on c.id = o.id"
    assert bound(query) == expected
    assert [one.changes for one in references(query)] == [("1", "date '2024-01-01' + 1"), ()]
    # It has no name of its own, so a condition on the table is none on its changes.
    both = "select * from table_changes('orders', 1), orders where orders.id = 5"
    assert [one.predicate is None for one in references(both)] == [True, False]
    for other in ("table_changes('t')", "table_changes(1, 2)", "db.table_changes('t', 1)"):
        assert bound(f"select * from {other}") == f"select * from {other}"


@pytest.mark.parametrize("query", UNCHANGED)
def test_nothing_of_ours_stays_as_it_is(query: str) -> None:
    assert bind(query, resolve).text == query
    assert bind(query, resolve).references == ()


# name: query, bound
NAMES = {
    "bare": ("select * from t", "select * from `@main.t` AS t"),
    "qualified": ("select * from db.t", "select * from `@db.t` AS t"),
    "backquoted": ("select * from `db`.`t`", "select * from `@db.t` AS `t`"),
    "backquoted with a dot": ("select * from `a.b`", "select * from `@main.a.b` AS `a.b`"),
    "own catalog": ("select * from spark_catalog.db.t", "select * from `@db.t` AS t"),
    "blanks and comments inside": (
        "select * from db /* x */ . t where 1",
        "select * from `@db.t` AS t where 1",
    ),
    "case is kept": ("select * from DB.Orders", "select * from `@DB.Orders` AS Orders"),
    "alias": ("select * from t x", "select * from `@main.t` x"),
    "alias with as": ("select * from t as x", "select * from `@main.t` as x"),
    "alias with columns": ("select * from t as x(a, b)", "select * from `@main.t` as x(a, b)"),
    "alias in backquotes": ("select * from t `x y`", "select * from `@main.t` `x y`"),
    "keyword as alias": ("select * from t as order", "select * from `@main.t` as order"),
    "name with digits first": ("select * from db.2024_sales", "select * from `@db.2024_sales` AS 2024_sales"),
    "identifier clause": ("select * from identifier('db.t')", "select * from `@db.t` AS t"),
    "identifier of pieces": ("select * from identifier('d' || 'b.' 't') x", "select * from `@db.t` x"),
    "identifier in backquotes": ("select * from identifier('db.`a-b`')", "select * from `@db.a-b` AS `a-b`"),
    "format as database": ("select * from json.t", "select * from `@json.t` AS t"),
    "line comment at the end": ("select * from t -- done", "select * from `@main.t` AS t -- done"),
    "semi joins of tables with one name": (
        "select b.* from b left semi join a on a.x = b.x left anti join s.a on a.x = b.x + 3",
        (
            "select b.* from `@main.b` AS b left semi join `@main.a` AS a on a.x = b.x"
            " left anti join `@s.a` AS a on a.x = b.x + 3"
        ),
    ),
    "a semi join of a table with the name of another": (
        "select a.x, a.* from a left semi join s.a on main.a.x = s.a.x where a.x > 1",
        (
            "select `@main.a`.x, `@main.a`.* from `@main.a` left semi join `@s.a`"
            " on `@main.a`.x = `@s.a`.x where `@main.a`.x > 1"
        ),
    ),
    "semicolon": ("select * from t;", "select * from `@main.t` AS t;"),
    "system tables with aliases": (
        "select f.x from db.t$files f join t$files as g on f.x = g.x",
        "select f.x from `@db.t$files` f join `@main.t$files` as g on f.x = g.x",
    ),
    "system table": ("select * from db.`t$files`", "select * from `@db.t$files` AS `t$files`"),
    "bare system table": ("select t$files.x from db.t$files", "select `@db.t$files`.x from `@db.t$files`"),
}
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
CTES = {
    "reads a table of its own name": (
        "with t as (select * from t) select * from t",
        "with t as (select * from `@main.t` AS t) select * from t",
    ),
    "qualified is never a cte": (
        "with t as (select 1) select * from db.t",
        "with t as (select 1) select * from `@db.t` AS t",
    ),
    "earlier ones do not see later ones": (
        "with a as (select * from b), b as (select 1) select * from a, b",
        "with a as (select * from `@main.b` AS b), b as (select 1) select * from a, b",
    ),
    "inner scope ends": (
        "select * from (with t as (select 1) select * from t) x join t",
        "select * from (with t as (select 1) select * from t) x join `@main.t` AS t",
    ),
    "visible in subqueries": (
        "with t as (select 1 as i) select * from a where i in (select i from t)",
        "with t as (select 1 as i) select * from `@main.a` AS a where i in (select i from t)",
    ),
    "visible in set operations": ("with t as (select 1) select * from t union (select * from t)", None),
    "nested with": (
        "with a as (with b as (select * from c) select * from b) select * from a join b",
        "with a as (with b as (select * from `@main.c` AS c) select * from b) select * from a join `@main.b` AS b",
    ),
    "recursive, and named AS": (
        "with recursive as (select 1) select * from recursive, as",
        "with recursive as (select 1) select * from `@main.recursive` AS recursive, as",
    ),
    "in a subquery of an expression": (
        "select (with t as (select 1 as i) select max(i) from t), i from t",
        "select (with t as (select 1 as i) select max(i) from t), i from `@main.t` AS t",
    ),
}
COLUMNS = {
    "database taken off": (
        "select db.t.a, `db`.`t`.b, t.c from db.t where db.t.a > 1 order by db.t.b",
        "select t.a, t.b, t.c from `@db.t` AS t where t.a > 1 order by t.b",
    ),
    "with nothing for a catalog": (
        "select None.db.t.a, t.b from None.db.t join .db.u on t.a = u.a",
        "select t.a, t.b from `@db.t` AS t join `@db.u` AS u on t.a = u.a",
    ),
    "with a catalog": ("select spark_catalog.db.t.a from db.t", "select t.a from `@db.t` AS t"),
    "star": ("select db.t.*, count(db.t.*) from db.t", "select t.*, count(t.*) from `@db.t` AS t"),
    "current database": ("select main.t.a from t", "select t.a from `@main.t` AS t"),
    "struct field": ("select db.t.s.x.y from db.t", "select t.s.x.y from `@db.t` AS t"),
    "case": ("select DB.T.a from db.t", "select t.a from `@db.t` AS t"),
    "two parts stay": ("select db.t from db.t", "select db.t from `@db.t` AS t"),
    "aliased tables hide it": ("select db.t.a from db.t x", "select db.t.a from `@db.t` x"),
    "not ours": ("select db.tmp.a from db.tmp", "select db.tmp.a from db.tmp"),
    "correlated": (
        "select * from db.t where exists (select 1 from u where u.i = db.t.i)",
        "select * from `@db.t` AS t where exists (select 1 from `@main.u` AS u where u.i = t.i)",
    ),
    "two tables of one name": (
        "select a.t.i, b.t.i from a.t join b.t on a.t.i = b.t.i",
        "select `@a.t`.i, `@b.t`.i from `@a.t` join `@b.t` on `@a.t`.i = `@b.t`.i",
    ),
    "inner one of the same name": (
        "select t.x from a.t where exists (select 1 from b.t where t.i = a.t.i and b.t.k = 2)",
        "select t.x from `@a.t` AS t where exists (select 1 from `@b.t` where `@b.t`.i = t.i and `@b.t`.k = 2)",
    ),
    "inner alias of the same name": (
        "select t.x from a.t where exists (select 1 from u as t where t.i = a.t.i)",
        "select `@a.t`.x from `@a.t` where exists (select 1 from `@main.u` as t where t.i = `@a.t`.i)",
    ),
}
TRAVEL = {
    "version": ("select * from t version as of 3 where x", "select * from `@main.t` AS t where x"),
    "for version": ("select * from t for version as of 3 x", "select * from `@main.t` x"),
    "tag": ("select * from t version as of 'v1' as x", "select * from `@main.t` as x"),
    "system version": ("select t.a from db.t for system_version as of 3", "select t.a from `@db.t` AS t"),
    "at sign": ("select * from t@v12 x", "select * from `@main.t` x"),
    "timestamp": (
        "select * from t timestamp as of '2024-01-01' join u",
        "select * from `@main.t` AS t join `@main.u` AS u",
    ),
    "system time": (
        "select * from t for system_time as of timestamp '2024-01-01', u",
        "select * from `@main.t` AS t, `@main.u` AS u",
    ),
    "not bound, not cut": ("select * from tmp version as of 3", "select * from tmp version as of 3"),
    "version as alias": ("select version.a from t version", "select version.a from `@main.t` version"),
    "with a sample": (
        "select * from t version as of 3 tablesample (5 rows)",
        "select * from `@main.t` tablesample (5 rows) AS t",
    ),
}
SCENARIOS = {
    f"{group} - {name}": pair
    for group, cases in {
        "names": NAMES,
        "positions": POSITIONS,
        "ctes": CTES,
        "columns": COLUMNS,
        "travel": TRAVEL,
    }.items()
    for name, pair in cases.items()
}


@pytest.mark.parametrize(("query", "expected"), SCENARIOS.values(), ids=SCENARIOS)
def test_bound_text(query: str, expected: str | None) -> None:
    assert bound(query) == (query if expected is None else expected)


@pytest.mark.parametrize("query", [*UNCHANGED, *(query for query, _ in SCENARIOS.values())])
def test_a_resolver_that_knows_nothing_changes_nothing(query: str) -> None:
    assert bind(query, lambda _: None).text == query


@pytest.mark.parametrize(
    ("clause", "version", "timestamp"),
    [
        ("version as of 3", "3", None),
        ("for version as of '7'", "'7'", None),
        ("timestamp as of '2024-01-01 10:00:00'", None, "'2024-01-01 10:00:00'"),
        ("for system_time as of date '2024-01-01'", None, "date '2024-01-01'"),
        (
            "timestamp as of current_timestamp() - interval 1 day",
            None,
            "current_timestamp() - interval 1 day",
        ),
        ("timestamp as of now() - interval '2' hours", None, "now() - interval '2' hours"),
        ("timestamp as of date_sub(current_date(), 1)", None, "date_sub(current_date(), 1)"),
        ("timestamp as of current_date", None, "current_date"),
        ("timestamp as of '2024-01-01'::timestamp", None, "'2024-01-01'::timestamp"),
        ("timestamp as of (select max(x) from u)", None, "(select max(x) from u)"),
        ("timestamp as of cast('2024-01-01' as timestamp)", None, "cast('2024-01-01' as timestamp)"),
        ("timestamp as of interval '1-2' year to month + d", None, "interval '1-2' year to month + d"),
    ],
)
@pytest.mark.parametrize("behind", ["", " x", " as x", " where a = 1", " join v on true", ", v", " limit 3"])
def test_time_travel(clause: str, version: str | None, timestamp: str | None, behind: str) -> None:
    result = bind(f"select * from db.t {clause}{behind}", resolve)
    assert result.references[0].time_travel == TimeTravel(version, timestamp)
    alias = "" if behind.strip() in ("x", "as x") else " AS t"
    rest = behind.replace("join v", "join `@main.v` AS v").replace(", v", ", `@main.v` AS v")
    assert result.text == f"select * from `@db.t`{alias}{rest}"


def test_references_in_order_with_everything_they_say() -> None:
    query = "select i from db.t version as of 2 where i = 5 union all select j from u"
    found = bind(query, resolve).references
    assert [(r.database, r.name, r.time_travel) for r in found] == [
        ("db", "t", TimeTravel(version_sql="2")),
        (None, "u", None),
    ]
    assert found[0].predicate is not None
    assert found[1].predicate is None
    assert [r.name for r in references("select * from tmp join db.t")] == ["tmp", "t"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("None.db.t", True), (".db.t", True), ("db.t", False), ("t", False), ("spark_catalog.db.t", False)],
)
def test_a_name_with_nothing_for_a_catalog_can_only_be_ours(name: str, expected: bool) -> None:
    (reference,) = references(f"select * from {name}")
    assert reference.name == "t"
    assert reference.without_catalog is expected


def test_expressions_of_statements() -> None:
    text = "db.t.i in (select u.i from u where u.k = db.t.k and t.z = 1) and `db`.`t`.x > 3"
    result = bind_expression(text, resolve, {("db", "t"): "dest"})
    assert result.text == "dest.i in (select u.i from `@main.u` AS u where u.k = dest.k and t.z = 1) and dest.x > 3"
    assert [reference.name for reference in result.references] == ["u"]
    assert bind_expression("a > 1 and (b = 2)", resolve).text == "a > 1 and (b = 2)"
    assert bind_expression("a = 'x' or )", resolve).text == "a = 'x' or )"


def test_deep_nesting_is_no_problem() -> None:
    query = "select * from t where " + "(" * 3000 + "a = 1" + ")" * 3000
    assert bound(query) == query.replace("from t", "from `@main.t` AS t")


TEXTS = st.lists(
    st.sampled_from(
        [
            "select",
            "from",
            "where",
            "join",
            "on",
            "left",
            "t",
            "u",
            "db",
            ".",
            ",",
            "(",
            ")",
            "*",
            "a",
            "as",
            "x",
            "with",
            "union",
            "all",
            "table",
            "values",
            "group",
            "by",
            "order",
            "limit",
            "1",
            "'x'",
            "`q`",
            "=",
            "and",
            "or",
            "case",
            "end",
            "lateral",
            "view",
            "tablesample",
            "version",
            "of",
            "in",
            "exists",
            "|>",
            "::",
            "--",
            "/*",
            "*/",
            ";",
            "$",
        ]
    ),
    max_size=25,
).map(" ".join)


VIEW = re.compile(r"`(view\d+)`(?: AS \S+)?")


@given(TEXTS)
def test_any_text_survives_and_only_known_spans_change(text: str) -> None:
    assert bind(text, lambda _: None).text == text
    views = (Binding(f"view{number}") for number in count())
    query = bind(text, lambda _: next(views))
    pieces = VIEW.split(query.text)
    assert pieces[1::2] == [f"view{number}" for number in range(len(query.references))]
    around = [re.escape(piece) for piece in pieces[::2]]
    names = [rf".*?{re.escape(one.name)}.*?" for one in query.references]
    pattern = "".join(chain.from_iterable(zip_longest(around, names, fillvalue="")))
    assert re.fullmatch(pattern, text, re.DOTALL), "around the views, the text is as it was"


def test_subqueries_may_nest_as_deep_as_they_like() -> None:
    for opening, named in (("select * from (", 0), ("select ((", 0), ("select a from t where a in (", 2000)):
        closing = ")" * opening.count("(")
        query = f"{opening * 2000}select 1 from x{closing * 2000}"
        assert Counter(one.name for one in references(query)) == Counter(t=named, x=1)


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("select case from a", ["a"]),
        ("select s as case from a join b on a.x = b.x", ["a", "b"]),
        ("with q as (select s case from a) select * from q join b", ["a", "b"]),
        ("select a from t where case = 'x' and b in (select b from s)", ["t", "s"]),
        ("select a case from t union select b end from s", ["t", "s"]),
        ("select x as case from a join b on case when y then z end", ["a", "b"]),
        ("select case from when 1 then end from a", ["a"]),
        ("select case from when 1 then 2 end, case when 1 then from else 3 end from a", ["a"]),
        ("select case when a is distinct from b then 1 end from t", ["t"]),
        ("select * from t timestamp as of case when true then '2026-01-01' end join s", ["t", "s"]),
    ],
)
def test_case_and_end_may_be_names(query, tables):
    assert [reference.name for reference in references(query)] == tables


HIDDEN = {
    "select *, __paimon_bucket from t": "select * EXCEPT (t.__paimon_bucket), __paimon_bucket from `@main.t` AS t",
    "select t.*, t.__Paimon_Bucket from t, u": (
        "select t.* EXCEPT (t.__paimon_bucket), t.__Paimon_Bucket from `@main.t` AS t, `@main.u` AS u"
    ),
    "select * except (a), count(*) from t x where x.__paimon_row_index > a * 2": (
        "select * except (`x`.__paimon_row_index, a), count(*) from `@main.t` x where x.__paimon_row_index > a * 2"
    ),
    "select * from (select * from t where __paimon_bucket = 0) join u": (
        "select * EXCEPT (u.__paimon_bucket) from (select * EXCEPT (t.__paimon_bucket) from `@main.t` AS t"
        " where __paimon_bucket = 0) join `@main.u` AS u"
    ),
    "select s.t.*, s.t.__paimon_bucket from s.t": (
        "select t.* EXCEPT (t.__paimon_bucket), t.__paimon_bucket from `@s.t` AS t"
    ),
    "from t |> select *, __paimon_bucket": "from `@main.t` AS t |> select *, __paimon_bucket",
    "select '__paimon_bucket', * from t": "select '__paimon_bucket', * from `@main.t` AS t",
}


@pytest.mark.parametrize("query", HIDDEN)
def test_stars_leave_hidden_columns_out(query: str) -> None:
    assert bound(query) == HIDDEN[query]


def test_hidden_columns_belong_to_the_tables_that_may_mean_them() -> None:
    found = references("select t.__paimon_bucket, (select max(__paimon_partition.p) from u) from t natural join v")
    assert [one.hidden for one in found] == [("__paimon_partition",), (), ()]
    found = references("select __paimon_bucket, t.__paimon_file_path from t join u")
    assert [one.hidden for one in found] == [("__paimon_file_path", "__paimon_bucket"), ("__paimon_bucket",)]
