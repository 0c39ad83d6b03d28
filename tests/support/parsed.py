"""Cases of the parser: a text, the kind of its statement, and the fields that differ from their defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.statements.statement import Statement, TableName

Case = tuple[str, type[Statement], dict[str, Any]]
T = TableName(None, "t")
DB_T = TableName("db", "t")


def parsing_test(cases: list[Case]) -> Callable[..., None]:
    """A test that each text is parsed as its case says."""

    @pytest.mark.parametrize(("text", "kind", "expected"), cases, ids=[text[:60] for text, *_ in cases])
    def test(text: str, kind: type[Statement], expected: dict[str, Any]) -> None:
        check_parsed(text, kind, expected)

    return test


def check_parsed(text: str, kind: type[Statement], expected: dict[str, Any]) -> None:
    """A text is this statement; dbt's header, noise behind it, the case of keywords and line breaks change nothing."""
    statement = parse(text)
    assert type(statement) is kind
    assert statement.sql == text
    assert _fields(statement) == expected
    if text.strip(" ;"):
        dressed = parse(f'/* {{"app": "dbt", "x": "it\'s"}} */\n{text}\n;\n-- end\n')
        assert type(dressed) is kind
        assert _values(dressed) == _values(statement)
    if not any(mark in text for mark in "'\"`-"):
        assert type(parse(text.upper().replace(" ", "\n\t "))) is kind


def _values(statement: Statement) -> dict[str, Any]:
    names = [one.name for one in dataclasses.fields(statement) if one.name not in ("sql", "prefix")]
    return {name: getattr(statement, name) for name in names}


def _fields(statement: Statement) -> dict[str, Any]:
    """The fields that differ from their defaults, without the text."""
    found = {}
    for one in dataclasses.fields(statement):
        value = getattr(statement, one.name)
        if one.name != "sql" and value != one.default and value not in ({}, ()):
            found[one.name] = value
    return found
