"""Expressions and queries in other dialects against the values that their warehouses give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.dialect.translate import translate
from tablestore_engine import TableStore
from tablestore_engine.errors import TableStoreError


def wrong_values(store: TableStore, cases: Iterable[tuple[str, str, Any]]) -> list[tuple[str, str, Any, Any]]:
    """The cases (a dialect, an expression or a query of one value, its value) that Spark answers otherwise."""
    wrong = []
    for dialect, text, expected in cases:
        query = text if text.startswith(("select", "from", "with")) else f"select {text}"
        try:
            [[value]] = store.sql(translate(query, dialect)).collect()
        except (DbtRuntimeError, TableStoreError) as error:
            value = str(error)
        if value != expected:
            wrong.append((dialect, text, value, expected))
    return wrong
