"""Predicates on the rows of a view are applied to the tables that the view reads."""

from __future__ import annotations

import pytest

from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.query.view_columns import references_of_view


def predicate_of(condition):
    return references(f"select * from t where {condition}")[0].predicate


def view(sql, **columns):
    fields = tuple(DataField(i, name, AtomicType("INT")) for i, name in enumerate(columns))
    return View(sql, "default", fields, query_columns=tuple(columns.values()))


@pytest.mark.parametrize(
    ("seen", "condition", "expected"),
    [
        (view("select * from t", a="a"), "a = 1", ["a = 1"]),
        (view("select * from t where b = 2", a="a"), "A = 1", ["b = 2 and a = 1"]),
        (view("select x as a, y from t", k="a", y="y"), "k = 1 and y > 2", ["x = 1 and y > 2"]),
        (view("with c as (select * from t) select u.a from c join u on c.i = u.i", a="a"), "a = 1", [None, "a = 1"]),
        (view("select a, count(*) as n from t group by a", a="a", n="n"), "a = 1", [None]),
        (view("select a + 1 as a from t", a="a"), "a = 1", [None]),
        (view("select a from t limit 3", a="a"), "a = 1", [None]),
        (view("select a, b as a from t", x="a", y="a"), "x = 1", []),
        (view("select x as k, y from t", a="k", b="y"), "a in (1, 2) and c = 3", ["x in (1, 2)"]),
        (view("select x as k, y from t", a="k", b="y"), "a = 1 or c = 3", []),
        (view("select a from t union all select a from u", a="a"), "a = 1", [None, None]),
        (view("select a from t -- the end", a="a"), "a = 1", ["a = 1"]),
        (View("select a from t", "default", (DataField(0, "a", AtomicType("INT")),)), "a = 1", []),
    ],
)
def test_through_a_view(seen, condition, expected):
    found = references_of_view(seen, predicate_of(condition))
    assert [repr(one.predicate) for one in found] == [repr(one and predicate_of(one)) for one in expected]
