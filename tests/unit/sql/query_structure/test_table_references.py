"""What a query consists of: its selects, their relations and clauses, and which select a name belongs to."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query_structure.table_references import scan_expression, scan_query
from tablestore_engine.sql.tokens.lexer import tokenize


def scanned(text, scan=scan_query):
    tokens = tokenize(text)
    return scan(tokens, text), tokens


def words(span, tokens):
    return " ".join(token.text for token in tokens[slice(*span)]) if span else None


def selects_of(query):
    """All selects of a query, those of its subqueries and common table expressions last."""
    found = list(query.selects)
    for select in query.selects:
        for relation in select.relations:
            if relation.query:
                found += selects_of(relation.query)
    return found


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("select 1", []),
        ("select * from a, b.c join d", ["a", "b.c", "d"]),
        ("from a select x", ["a"]),
        ("table a", ["a"]),
        ("select x in (select y from b) from a where exists (select 1 from c)", ["b", "a", "c"]),
        ("with b as (select * from a) select * from b", ["a"]),
        # A name of two parts is no common table expression, and one that is defined later is none yet.
        ("with b as (select * from c), c as (select 1) select * from x.b, c", ["c", "x.b"]),
        ("with recursive b as (select 1 union all select * from b) select * from B", []),
        ("with b as (select * from b) select * from b", ["b"]),
        # It ends with its query.
        ("select * from (with b as (select 1) select * from b) join b", ["b"]),
        ("select a.from, x from a where from.b = 1", ["a"]),
        ("select f(table a), g(x => table (b)), h(table => 1) from c", ["a", "b", "c"]),
        ("select trim(both from x), extract(day from y) from a", ["a"]),
        ("select * from range(5), explode(array(1)) e", []),
        ("select * from a intersect (select * from b except all table c)", ["a", "b", "c"]),
        ("(table a except table b)", ["a", "b"]),
        ("select * from (a join (b cross join c))", ["a", "b", "c"]),
        ("select * from a where x = (select max(x) from", ["a"]),
    ],
)
def test_tables_in_the_order_of_the_text(query, tables):
    structure, _ = scanned(query)
    assert [".".join(table.parts) for table in structure.tables] == tables


@pytest.mark.parametrize(
    ("joins", "expected"),
    [
        ("a join b on a.x = b.x", [("a", "inner", None), ("b", "inner", "a . x = b . x")]),
        ("a left outer join b on true and x", [("a", "inner", None), ("b", "left", "true and x")]),
        ("a right join b using (x)", [("a", "inner", None), ("b", "right", None)]),
        ("a natural full join b", [("a", "inner", None), ("b", "full", None)]),
        ("a left semi join b on x where y", [("a", "inner", None), ("b", "semi", "x")]),
        ("a anti join b on x, c", [("a", "inner", None), ("b", "anti", "x"), ("c", "inner", None)]),
        ("a join b on x join c on y", [("a", "inner", None), ("b", "inner", "x"), ("c", "inner", "y")]),
    ],
)
def test_joins_and_their_conditions(joins, expected):
    structure, tokens = scanned(f"select * from {joins}")
    (select,) = structure.root.selects
    assert [(one.parts[0], one.join, words(one.on, tokens)) for one in select.relations] == expected


@pytest.mark.parametrize(
    ("query", "clauses"),
    [
        ("select a, b from t where a = 1 and b > 2 order by a", [("a , b", "a = 1 and b > 2")]),
        ("select where from t where where = 1", [("where", "where = 1")]),
        ("select a from t where a union select b from u", [("a", "a"), ("b", None)]),
        ("from t where a select b", [("b", "a")]),
        ("select f(select 1) from t", [("f ( select 1 )", None)]),
        ("select x, limit from t limit 3", [("x , limit", None)]),
        ("select * except (a) from t where a", [("* except ( a )", "a")]),
    ],
)
def test_the_clauses_of_each_select(query, clauses):
    structure, tokens = scanned(query)
    assert [(words(one.items, tokens), words(one.where, tokens)) for one in structure.root.selects] == clauses


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("select a from t", set()),
        ("select a from t group by a", {"grouped"}),
        ("select a from t having a", {"grouped"}),
        ("select a from t limit 1", {"limited"}),
        ("select a from t offset 1", {"limited"}),
        ("select limit, offset from t", set()),
        ("select a from t pivot (sum(a) for b in (1))", {"opaque"}),
        ("select a from t pivot", set()),
        ("from t |> where a", {"opaque"}),
        ("select a from (t join u)", {"opaque"}),
        ("select a from t asof join u", {"opaque"}),
        ("select transform(a) using 'x' from t", {"opaque"}),
    ],
)
def test_grouped_limited_and_opaque_queries_are_known(query, said):
    (select,) = scanned(query)[0].root.selects
    assert {one for one in ("grouped", "limited", "opaque") if getattr(select, one)} == said


def test_readers_of_a_common_table_expression_are_known():
    structure, _ = scanned("with c (x) as (select 1) select * from c a join C on true where x in (select x from c)")
    first, second = structure.root.selects[0].relations
    assert first.cte is second.cte
    assert (first.cte.name, first.cte.renames_columns, first.cte.recursive) == ("c", True, False)
    assert [one.alias for one in first.cte.readers] == ["a", None, None]
    assert first.cte.query.owner is first.cte


@pytest.mark.parametrize(
    ("query", "combined"),
    [
        ("select 1", False),
        ("select 1 union all select 2", True),
        ("select 1 except select 2", True),
        ("from t select a select b", False),
    ],
)
def test_selects_that_are_combined(query, combined):
    assert scanned(query)[0].root.combined is combined


def test_names_belong_to_the_select_around_them():
    text = "select t.a, (select u.b from u where u.c = t.d), u.* from t where t.`e f`.g > 1"
    structure, _ = scanned(text)
    outer = structure.root.selects[0]
    found = [(".".join(one.parts), one.star, one.select is outer) for one in structure.names]
    assert found == [
        ("t.a", False, True),
        ("u.b", False, False),
        ("u.c", False, False),
        ("t.d", False, False),
        ("u", True, True),
        ("t.e f.g", False, True),
    ]
    inner = next(one.select for one in structure.names if one.select is not outer)
    assert inner.parent is outer
    assert [text[slice(*one.spans[-1])] for one in structure.names] == ["a", "b", "c", "d", "u", "g"]


def test_an_expression_has_a_select_of_its_own():
    structure, _ = scanned("a.b = 1 and x in (select y from t where t.c = a.d)", scan_expression)
    (root,) = structure.root.selects
    assert root.relations == []
    assert [(one.parts, one.select is root) for one in structure.names] == [
        (("a", "b"), True), (("t", "c"), False), (("a", "d"), False),
    ]  # fmt: skip
    assert [one.parts for one in structure.tables] == [("t",)]
    assert structure.tables[0].select.parent is root


def test_subqueries_know_what_they_define():
    structure, _ = scanned("select * from (select * from (values (1)) v where x) s")
    outer, middle, *_ = selects_of(structure.root)
    assert structure.root.owner is None
    assert middle.query.owner is outer.relations[0]
    assert (middle.query.owner.alias, middle.relations[0].parts) == ("s", ())
