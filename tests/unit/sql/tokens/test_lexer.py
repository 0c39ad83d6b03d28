from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.sql.tokens.lexer import (
    BAD,
    END,
    NUMBER,
    QUOTED,
    STRING,
    SYMBOL,
    WORD,
    behind_type_part,
    position_of,
    tokenize,
)


def pieces(text: str) -> list[str]:
    return [token.text for token in tokenize(text)[:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select a.b", ["select", "a", ".", "b"]),
        ("a -- it's\n b", ["a", "b"]),
        ("a -- continued \\\n still comment\n b", ["a", "b"]),
        ("a -- ended \\\r\n b", ["a", "b"]),
        ("a /* x /* nested */ y */ b", ["a", "b"]),
        ("select /*+ BROADCAST(t) */ a", ["select", "a"]),
        ("`a``b`.`c d`", ["`a``b`", ".", "`c d`"]),
        (r"'it\'s' 'it''s'", [r"'it\'s'", "'it''s'"]),
        ("\"a -- b\" '/* c'", ['"a -- b"', "'/* c'"]),
        (r"r'a\' b", [r"r'a\'", "b"]),
        ("$$ any 'thing $$ a", ["$$ any 'thing $$", "a"]),
        ("$q$ $$ $q$", ["$q$ $$ $q$"]),
        ("1L 1.5BD .5 1. 2e3 1e-3D 5S", ["1L", "1.5BD", ".5", "1.", "2e3", "1e-3D", "5S"]),
        ("db.1st_col 1st t.2", ["db", ".", "1st_col", "1st", "t", ".2"]),
        ("t$snapshots", ["t$snapshots"]),
        (
            "a<=>b<=c<>d!=e==f||g|>h->i=>j::k",
            [
                *list("a"),
                "<=>",
                "b",
                "<=",
                "c",
                "<>",
                "d",
                "!=",
                "e",
                "==",
                "f",
                "||",
                "g",
                "|>",
                "h",
                "->",
                "i",
                "=>",
                "j",
                "::",
                "k",
            ],
        ),
        ("array<array<int>>", ["array", "<", "array", "<", "int", ">", ">"]),
        ("größe = 'ü'", ["größe", "=", "'ü'"]),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_kinds_and_names() -> None:
    tokens = tokenize("Select `a``b` 'x' 1 ,")
    assert [token.kind for token in tokens] == [WORD, QUOTED, STRING, NUMBER, SYMBOL, END]
    assert [token.key for token in tokens] == ["SELECT", "", "", "", ",", ""]
    assert tokens[1].name == "a`b"


@pytest.mark.parametrize("text", ["a 'b", 'a "b', "a `b", "a /* b", "a /* /* b */"])
def test_unterminated_text_is_one_bad_token(text: str) -> None:
    assert [token.kind for token in tokenize(text)] == [WORD, BAD, END]


@given(st.text(alphabet="ab1. '\"`\\/*-+$\n(),;<>=|é"))
def test_every_token_is_a_slice_and_nothing_overlaps(text: str) -> None:
    position = 0
    for token in tokenize(text):
        assert token.start >= position
        assert text[token.start : token.end] == token.text
        position = token.end


def test_positions() -> None:
    assert position_of("ab\ncd", 4) == (2, 2)


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("(a [b] c)", ["(a [b] c)", "[b]"]),
        (
            "case when (case when a then b end) then b end",
            ["case when (case when a then b end) then b end", "(case when a then b end)", "case when a then b end"],
        ),
        (
            "case case when 1 then 2 end when 2 then case when 3 then 4 end end",
            [
                "case case when 1 then 2 end when 2 then case when 3 then 4 end end",
                "case when 1 then 2 end",
                "case when 3 then 4 end",
            ],
        ),
        ("case a end", []),
        ("select a case from t union select b end from s", []),
        ("select x as case from t join s on case when a then b end", ["case when a then b end"]),
        ("select case, case when a then b end, end", ["case when a then b end"]),
        ("select case = 1, case when a then end", ["case when a then end"]),
        ("select `b` case when a then end", []),
        ("case when case then 1 when 2 then case end", ["case when case then 1 when 2 then case end"]),
        ("case from when 1 then 2 end", ["case from when 1 then 2 end"]),
        (
            "case t.from is distinct from b when true then 2 end",
            ["case t.from is distinct from b when true then 2 end"],
        ),
        ("case end when 1 then 2 end", ["case end when 1 then 2 end"]),
        ("merge into t case using s on a when matched then update set b = end", []),
        ("case when (a end) then b", ["(a end)"]),
        ("t.case, t.end, (end) end", ["(end)"]),
        ("(a; b)", []),
        ("case a when 1 then select 1; end case; case b when 1 then 2 end", ["case b when 1 then 2 end"]),
        ("([)]", ["([)", "[)]"]),
        (") ] ( [ '(' `)` -- )", []),
    ],
)
def test_tokens_know_their_partners(text: str, groups: list[str]) -> None:
    tokens = tokenize(text)
    assert [text[t.start : tokens[t.partner].end] for i, t in enumerate(tokens) if t.partner > i] == groups
    assert all(tokens[t.partner].partner == i for i, t in enumerate(tokens) if t.partner >= 0)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<int> x", "x"),
        ("<a: array<int>, b: decimal(3, 1)> not null", "not"),
        ("<a: struct<>> x", "x"),
        ("(3, 1) x", "x"),
        ("int x", "x"),
        ("<a: map<int", ""),
        ("> x", "x"),
    ],
)
def test_angle_brackets_of_a_type_are_a_group(text, rest):
    tokens = tokenize(text)
    assert tokens[behind_type_part(tokens, 0)].text == rest
