"""Expressions and queries in other dialects against the values that their warehouses give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.dialect.translate import translate
from tablestore_engine import TableStore
from tablestore_engine.errors import TableStoreError

MOST_AT_ONCE = 25


def wrong_values(store: TableStore, cases: Iterable[tuple[str, str, Any]]) -> list[tuple[str, str, Any, Any]]:
    """The cases (a dialect, an expression or a query of one value, its value) that Spark answers otherwise."""
    wrong = []
    for dialect, texts, expected in _batches(cases):
        for text, value, right in zip(texts, _values(store, dialect, texts), expected, strict=True):
            if value != right:
                wrong.append((dialect, text, value, right))
    return wrong


def _batches(cases: Iterable[tuple[str, str, Any]]) -> Iterator[tuple[str, list[str], list[Any]]]:
    """The expressions of each dialect, some at once, because one statement of many is far cheaper than many of one."""
    waiting: dict[str, tuple[list[str], list[Any]]] = {}
    for dialect, text, value in cases:
        if text.startswith(("select ", "from ", "with ")):
            yield dialect, [text], [value]
            continue
        texts, values = waiting.setdefault(dialect, ([], []))
        texts.append(text)
        values.append(value)
        if len(texts) == MOST_AT_ONCE:
            yield dialect, *waiting.pop(dialect)
    for dialect, (texts, values) in waiting.items():
        yield dialect, texts, values


def _values(store: TableStore, dialect: str, texts: Sequence[str]) -> list[Any]:
    try:
        whole = texts[0].startswith(("select ", "from ", "with "))
        items = ", ".join(f"{text} as _{number}" for number, text in enumerate(texts))
        [row] = store.sql(translate(texts[0] if whole else f"select {items}", dialect)).collect()
        return list(row) if len(row) == len(texts) else [tuple(row)] * len(texts)
    except (DbtRuntimeError, TableStoreError, ValueError) as error:
        if len(texts) == 1:
            return [str(error)]
        return [value for text in texts for value in _values(store, dialect, [text])]
