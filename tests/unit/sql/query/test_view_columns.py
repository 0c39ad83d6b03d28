"""The columns of a view are found in its query by name, and predicates on them reach the tables that it reads."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import BrokenViewError
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.query.view_columns import positions, references_of_view


@pytest.mark.parametrize(
    ("stored", "found", "expected"),
    [
        (["id", "first", "last"], ["id", "first", "last"], (0, 1, 2)),
        (["id", "first", "last"], ["id", "last", "first"], (0, 2, 1)),
        (["id", "first"], ["new", "ID", "other", "First"], (1, 3)),
        (["id", "id", "v"], ["v", "id", "id"], (1, 2, 0)),
        (["count(1)"], ["day", "count(1)"], (1,)),
        ([], ["a"], ()),
    ],
)
def test_columns_are_found_by_name(stored, found, expected):
    assert positions("d.v", stored, found) == expected


@pytest.mark.parametrize(
    ("stored", "found", "words"),
    [
        (["id", "v"], ["id", "w"], "no column 'v' now. It has: id, w."),
        (["id", "v"], ["id"], "no column 'v' now. It has: id."),
        (["id", "v"], ["id", "v", "ID"], "had 1 and now has 2 columns named 'id'."),
        (["id", "id"], ["id", "v"], "had 2 and now has 1 columns named 'id'."),
    ],
)
def test_a_column_that_was_dropped_or_became_two(stored, found, words):
    with pytest.raises(BrokenViewError) as caught:
        positions("d.v", stored, found)
    assert str(caught.value).startswith("View 'd.v' cannot be read any more: ")
    assert words in str(caught.value)


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
