"""Facts about the rows of a query, from its text, before it is bound."""

from __future__ import annotations

import re

from tablestore_engine.sql.tokens.lexer import tokenize

_FILES = re.compile(r"\b(parquet|orc|csv|json|text|avro|delta|binaryfile)\s*\.\s*`|\brange\s*\(", re.IGNORECASE)
_GROWS = re.compile(r"\b(sequence|array_repeat|repeat|recursive)\b", re.IGNORECASE)
_QUERIES = frozenset(["SELECT", "WITH", "FROM"])
_BEFORE_RELATIONS = frozenset(["AS", "FROM", "JOIN", "LATERAL", "ALL", "UNION", "EXCEPT", "INTERSECT", "USING"])


def reads_files(sql: str) -> bool:
    """Whether it may read rows of which the catalog does not know how many there are."""
    return _FILES.search(sql) is not None


def makes_many_rows(sql: str) -> bool:
    """Whether it may make many rows of few."""
    return _GROWS.search(sql) is not None


def has_subquery(sql: str) -> bool:
    """Whether it may have a subquery in an expression, which may name columns of the query around it."""
    tokens = tokenize(sql)
    return any(
        one.key == "(" and tokens[at + 1].key in _QUERIES and (at == 0 or tokens[at - 1].key not in _BEFORE_RELATIONS)
        for at, one in enumerate(tokens)
    )
