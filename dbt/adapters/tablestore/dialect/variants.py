"""Paths of Databricks' VARIANT: `v:k` is a part of it, and of a JSON text where `v` is one.

Spark has no function that takes both, so the tree is searched for what a value is: PARSE_JSON, a cast, or a column of a
table whose type is VARIANT. Any other value is a JSON text.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aliases import cte_of
from dbt.adapters.tablestore.dialect.refusal import Columns

_MOST_LEVELS: Final = 50
_PARSING: Final = frozenset(["TRY_PARSE_JSON", "TO_VARIANT_OBJECT", "VARIANT_GET", "TRY_VARIANT_GET"])


def keep_variant_paths(tree: exp.Expr, columns_of: Columns | None) -> None:
    """Write the paths of variants as calls of VARIANT_GET."""
    for node in reversed(list(tree.find_all(exp.JSONExtract))):
        if isinstance(node.expression, exp.JSONPath) and _is_variant(node.this, columns_of, _MOST_LEVELS):
            given = node.expression.sql("databricks").strip("'")
            path = exp.Literal.string(f"${given}" if given.startswith("[") else f"$.{given}")
            node.replace(exp.Anonymous(this="VARIANT_GET", expressions=[node.this.copy(), path]))


def _is_variant(value: exp.Expr, columns_of: Columns | None, levels: int) -> bool:
    value = value.unnest()
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("variant"))
    if isinstance(value, exp.Anonymous):
        return value.name.upper() in _PARSING and len(value.expressions) < 3
    if isinstance(value, exp.JSONExtract):
        return _is_variant(value.this, columns_of, levels)
    if isinstance(value, exp.Column) and levels:
        return _is_variant_column(value, columns_of, levels - 1)
    return isinstance(value, exp.ParseJSON)


def _is_variant_column(column: exp.Column, columns_of: Columns | None, levels: int) -> bool:
    select = column.find_ancestor(exp.Select)
    return select is not None and _gives_variant(select, column.table, column.name, columns_of, levels)


def _gives_variant(select: exp.Select, table: str, name: str, columns_of: Columns | None, levels: int) -> bool:
    """Whether a source of a query has a column of this name that is a variant."""
    first = select.args.get("from_")
    sources = [first.this] if first is not None else []
    sources += [one.this for one in select.args.get("joins") or []]
    for source in sources:
        if table and source.alias_or_name.lower() != table.lower():
            continue
        query: exp.Expr | None = source.this if isinstance(source, exp.Subquery) else None
        if isinstance(source, exp.Table):
            named = None if source.db else cte_of(source)
            query = None if named is None else named.this
            types = columns_of([one.name for one in source.parts]) if columns_of is not None and query is None else None
            if types and any(key.lower() == name.lower() and types[key].lower() == "variant" for key in types):
                return True
        if query is not None and _outputs_variant(query, name, columns_of, levels):
            return True
    return False


def _outputs_variant(query: exp.Expr, name: str, columns_of: Columns | None, levels: int) -> bool:
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.this
    if not isinstance(query, exp.Select) or not levels:
        return False
    for one in query.expressions:
        if one.alias_or_name.lower() == name.lower() and not one.is_star:
            return _is_variant(one.unalias(), columns_of, levels - 1)
    starred = any(one.is_star for one in query.expressions)
    return starred and _gives_variant(query, "", name, columns_of, levels - 1)
