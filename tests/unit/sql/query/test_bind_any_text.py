"""Binding changes nothing but the names of tables, in any text and at any depth."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, count, zip_longest

from hypothesis import given
from hypothesis import strategies as st
from support.bound import bound

from tablestore_engine.sql.query.bind import Binding, bind, references


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
