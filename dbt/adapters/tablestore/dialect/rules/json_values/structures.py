"""DuckDB's FROM_JSON and JSON_TRANSFORM, whose structure is JSON itself: `{"sku": "VARCHAR", "tags": ["VARCHAR"]}`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from sqlglot import exp
from sqlglot.errors import SqlglotError

from dbt.adapters.tablestore.dialect.refusal import Untranslatable


def _parsed(node: exp.Expr, dialect: str) -> exp.Expr | None:
    if dialect != "duckdb":
        return None
    given = node.expression
    try:
        kind = _kind(json.loads(given.name)) if given is not None and given.is_string else None
    except (ValueError, SqlglotError):
        kind = None
    if kind is None:
        raise Untranslatable("FROM_JSON with a structure that is computed, or none of names, objects and lists of one")
    return exp.Anonymous(this="FROM_JSON", expressions=[node.this, exp.Literal.string(kind)])


def _kind(structure: Any) -> str | None:
    """Spark's type of a structure; None for one that is none."""
    if isinstance(structure, str):
        kind = exp.DataType.build("TEXT" if structure.upper() == "JSON" else structure, dialect="duckdb")
        return str(kind.sql("spark"))
    if isinstance(structure, list) and len(structure) == 1:
        inner = _kind(structure[0])
        return None if inner is None else f"ARRAY<{inner}>"
    if not isinstance(structure, dict) or not structure:
        return None
    fields = {name: _kind(one) for name, one in structure.items()}
    known = all(one is not None and "`" not in name for name, one in fields.items())
    return f"STRUCT<{', '.join(f'`{name}`: {one}' for name, one in fields.items())}>" if known else None


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {exp.FromJson: _parsed}
