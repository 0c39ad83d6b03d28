"""Facts about the rows of a query, from its text, before it is bound."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tablestore_engine.sql.tokens.lexer import tokenize

_FILES = re.compile(r"\b(parquet|orc|csv|json|text|avro|delta|binaryfile)\s*\.\s*`|\brange\s*\(", re.IGNORECASE)
_GROWS = re.compile(r"\b(sequence|array_repeat|repeat|recursive)\b", re.IGNORECASE)
_FIELD = re.compile(r"""[.\[]\s*(?:`([^`]+)`|['"]([^'"]+)['"]|(\w+))""")
_QUERIES = frozenset(["SELECT", "WITH", "FROM"])
_BEFORE_RELATIONS = frozenset(["AS", "FROM", "JOIN", "LATERAL", "ALL", "UNION", "EXCEPT", "INTERSECT", "USING"])


@dataclass(frozen=True)
class TextFacts:
    """Facts of all texts of one statement.

    `grows`: many rows may be made of few. `has_subquery`: one of an expression, which may name columns of the query
    around it. `fields`: names that may be those of fields of structs.
    """

    grows: bool = False
    has_subquery: bool = False
    fields: frozenset[str] = frozenset()

    @classmethod
    def of(cls, sql: str) -> TextFacts:
        """Those of one text."""
        return cls(makes_many_rows(sql), has_subquery(sql), named_fields(sql))

    def and_facts(self, other: TextFacts) -> TextFacts:
        """Those of other texts more."""
        return TextFacts(self.grows or other.grows, self.has_subquery or other.has_subquery, self.fields | other.fields)

    @property
    def correlated(self) -> frozenset[str] | None:
        """The fields, where a subquery may name one; None without subqueries. See `read_plan`."""
        return self.fields if self.has_subquery else None


def reads_files(sql: str) -> bool:
    """Whether it may read rows of which the catalog does not know how many there are."""
    return _FILES.search(sql) is not None


def makes_many_rows(sql: str) -> bool:
    """Whether it may make many rows of few."""
    return _GROWS.search(sql) is not None


def named_fields(sql: str) -> frozenset[str]:
    """The names, in lower case, that may be those of fields of structs: `s.f`, `s['f']`."""
    return frozenset(name.lower() for found in _FIELD.findall(sql) for name in found if name)


def has_subquery(sql: str) -> bool:
    """Whether it may have a subquery in an expression, which may name columns of the query around it."""
    tokens = tokenize(sql)
    return any(
        one.key == "(" and tokens[at + 1].key in _QUERIES and (at == 0 or tokens[at - 1].key not in _BEFORE_RELATIONS)
        for at, one in enumerate(tokens)
    )
