"""Mutated statements: for any text, the parser returns a statement or raises an error of this project.

The table of statements is mutated (tokens dropped, doubled, swapped, replaced by those of other statements, text cut
anywhere, brackets and quotes left open, deep nesting) and then processed like a statement before Spark gets it.
"""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.soak import SOAK, examples
from support.statement_table import statement_cases, tables_of

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.tokens.lexer import tokenize
from tablestore_engine.sql.tokens.parameters import with_parameters
from tablestore_engine.sql.tokens.split_statements import split

TEXTS = [case.sql for case in statement_cases()]
PIECES = [
    *("(", ")", "((", "))", "[", "]", ",", ";", ".", "..", "'", '"', "`", "/*", "*/", "--", "\\", "$$", "@", ":", "?"),
    *("SELECT", "FROM", "WHERE", "WITH", "AS", "TABLE", "VALUES", "CASE", "END", "BEGIN", "WHEN", "NOT", "SET", "ON"),
    *(
        "VERSION AS OF",
        "TIMESTAMP AS OF",
        "INTERVAL",
        "IDENTIFIER('",
        "|>",
        "=>",
        "::",
        "1",
        "1e",
        "'x'",
        "r'",
        "é",
        "\0",
    ),
]


def go_through(text: str) -> None:
    """Everything that is done with a text before Spark gets it. It may raise only errors of the engine's tree."""
    try:
        split(text)
        tables_of(parse(text))
        with_parameters(text, {"a": 1, "n": None})
    except SqlError as refusal:
        assert str(refusal)


@st.composite
def broken(draw: st.DrawFn) -> str:
    """A statement with up to four changes."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from([_dropped, _doubled, _swapped, _inserted, _cut, _crossed]))(draw, text)
    return text


def _spans(text: str) -> list[tuple[int, int]]:
    return [(token.start, token.end) for token in tokenize(text)]


def _dropped(draw: st.DrawFn, text: str) -> str:
    start, end = draw(st.sampled_from(_spans(text)))
    return text[:start] + text[end:]


def _doubled(draw: st.DrawFn, text: str) -> str:
    start, end = draw(st.sampled_from(_spans(text)))
    return f"{text[:end]} {text[start:]}"


def _swapped(draw: st.DrawFn, text: str) -> str:
    spans = _spans(text)
    (a, b), (c, d) = sorted((draw(st.sampled_from(spans)), draw(st.sampled_from(spans))))
    return text if c < b else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _inserted(draw: st.DrawFn, text: str) -> str:
    at = draw(st.sampled_from(_spans(text)))[0]
    return f"{text[:at]} {draw(st.sampled_from(PIECES))} {text[at:]}"


def _cut(draw: st.DrawFn, text: str) -> str:
    return text[: draw(st.integers(0, len(text)))]


def _crossed(draw: st.DrawFn, text: str) -> str:
    """The beginning of one statement and the end of another."""
    other = draw(st.sampled_from(TEXTS))
    return text[: draw(st.sampled_from(_spans(text)))[0]] + " " + other[draw(st.sampled_from(_spans(other)))[0] :]


@given(broken())
@example("  (TABLE ( t")
@settings(max_examples=examples(400), deadline=None)
def test_a_broken_statement_is_answered(text: str) -> None:
    go_through(text)


@given(st.text(max_size=60))
@example("")
@example("\0")
@settings(max_examples=examples(200), deadline=None)
def test_any_text_is_answered(text: str) -> None:
    go_through(text)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_statement_that_ends_anywhere_is_answered(text: str) -> None:
    """At each token one of the four changes; each of them in `make soak`."""
    for number, (start, end) in enumerate(_spans(text)):
        changed = (text[:start], text[:start] + text[end:], f"{text[:end]} {text[start:]}", text[start:])
        for one in changed if SOAK else changed[number % 4 :][:1]:
            go_through(one)


DEEP = 2000
NESTED = {
    "subqueries in FROM": "SELECT * FROM (" * DEEP + "SELECT 1" + ")" * DEEP,
    "subqueries in expressions": "SELECT (" * DEEP + "SELECT 1" + ")" * DEEP,
    "parentheses": "SELECT " + "(" * DEEP + "1" + ")" * DEEP,
    "parentheses around a query": "(" * DEEP + "SELECT 1" + ")" * DEEP,
    "parentheses around a table": "SELECT * FROM " + "(" * DEEP + "t" + ")" * DEEP,
    "parentheses in WHERE": "DELETE FROM t WHERE " + "(" * DEEP + "a = 1" + ")" * DEEP,
    "functions": "SELECT " + "f(" * DEEP + "1" + ")" * DEEP + " FROM t",
    "CASE": "SELECT " + "CASE WHEN " * DEEP + "1" + " END" * DEEP + " FROM t",
    "AND and OR": "SELECT * FROM t WHERE " + "a = 1 AND (b = 2 OR " * DEEP + "true" + ")" * DEEP,
    "NOT": "SELECT * FROM t WHERE " + "NOT " * DEEP + "a = 1",
    "signs": "SELECT * FROM t WHERE a = " + "- " * DEEP + "1",
    "common table expressions": "WITH a AS (" * DEEP + "SELECT 1" + ") SELECT * FROM a" * DEEP,
    "comments": "SELECT " + "/* " * DEEP + " */" * DEEP + " 1",
    "open parentheses": "SELECT * FROM t WHERE " + "(" * DEEP,
    "closing parentheses": "SELECT * FROM t WHERE " + ")" * DEEP,
    "open subqueries": "SELECT * FROM (" * DEEP,
    "explanations": "EXPLAIN " * (DEEP // 2) + "SELECT 1",
    "types": "CREATE TABLE t (a " + "ARRAY<" * DEEP + "INT" + ">" * DEEP + ")",
    "statements in statements": "EXECUTE IMMEDIATE " + "'EXECUTE IMMEDIATE " * 3,
    "blocks": "BEGIN " * DEEP + "END; " * DEEP,
    "set operations": " UNION ALL ".join(["SELECT a FROM t"] * DEEP),
    "pipes": "FROM t" + " |> WHERE a = 1" * DEEP,
    "joins": "SELECT * FROM t" + " JOIN (t" * DEEP + ")" * DEEP,
    "an UPDATE": "UPDATE t SET a = " + "(SELECT " * DEEP + "1" + ")" * DEEP,
    "constants of a procedure": "CALL sys.compact(" + "(" * DEEP + "1" + ")" * DEEP + ")",
    "a time": "SELECT * FROM t TIMESTAMP AS OF " + "(" * DEEP + "now()" + ")" * DEEP,
}


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_deep_nesting_is_answered(text: str) -> None:
    go_through(text)
