"""The text of a predicate is read as the same predicate again, and views hand theirs to the tables that they read."""

from __future__ import annotations

import pytest

from tablestore_engine.metadata.view import View
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.query.predicate_text import predicate_text
from tablestore_engine.sql.query.view_columns import references_of_view

CONDITIONS = [
    "a = 1",
    "a = -5 and b <> 3 and c >= 1.50",
    "a <= 1.5D or a > 'x y' or a is null",
    "a is not null and (b = true or b in (false, null)) and `c d` < date'2024-01-31'",
    "a between timestamp'2024-01-01 10:00:00.5' and timestamp'2024-01-02 00:00:00+02:00'",
    "a in (1, 2, 3) or (b = 'ä;--/*' and c = 1e300)",
    "5 > a and date '2024-02-29' <= b",
]


def predicate_of(condition):
    return references(f"select * from t where {condition}")[0].predicate


@pytest.mark.parametrize("condition", CONDITIONS)
def test_there_and_back(condition):
    predicate = predicate_of(condition)
    assert predicate is not None
    text = predicate_text(predicate, {name: name for name in ("a", "b", "c", "c d")})
    assert repr(predicate_of(text)) == repr(predicate)


@pytest.mark.parametrize(
    ("condition", "left"),
    [("a = 1 and z = 2", "a = 1"), ("a = 1 or z = 2", None), ("z = 2", None), ("a = 1 and (a = 2 or z = 3)", "a = 1")],
)
def test_what_cannot_be_said_is_left_out(condition, left):
    text = predicate_text(predicate_of(condition), {"a": "a"})
    assert (text and repr(predicate_of(text))) == (left and repr(predicate_of(left)))


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
        (view("select a from t -- the end", a="a"), "a = 1", ["a = 1"]),
        (View("select a from t", "default", (DataField(0, "a", AtomicType("INT")),)), "a = 1", []),
    ],
)
def test_through_a_view(seen, condition, expected):
    found = references_of_view(seen, predicate_of(condition))
    assert [repr(one.predicate) for one in found] == [repr(one and predicate_of(one)) for one in expected]
