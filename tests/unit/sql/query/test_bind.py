"""Queries bound to views: exactly the names of tables change.

In the tables below a view is called like its table in capitals behind a ``@``: ``@db.orders``.
"""

from __future__ import annotations

import pytest
from support.bound import bound, resolve

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.query.bind import bind, bind_expression, references
from tablestore_engine.sql.query_structure.query_structure import TimeTravel

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


@pytest.mark.parametrize("name", ["``.t", "db.``", "``", "identifier('``.t')"])
def test_a_name_with_an_empty_part_is_refused(name: str) -> None:
    with pytest.raises(SqlError, match="names no table: a part of it is empty"):
        bound(f"select * from {name} where a = 1")


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
def test_without_a_known_view_nothing_changes(query: str) -> None:
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
