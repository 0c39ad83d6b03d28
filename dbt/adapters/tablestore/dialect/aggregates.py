"""Corrections of aggregates: shares of a sum, quantiles, the first value by an order; and those that Spark has not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.lists import sorted_by
from dbt.adapters.tablestore.dialect.refusal import Untranslatable

_MOST_QUANTILES: Final = 1_000
_ORDERED: Final = (exp.ArrayAgg, exp.GroupConcat, exp.First, exp.Last, exp.AnyValue)
_JSON: Final = frozenset(["JSONB_AGG", "JSON_AGG", "JSONB_OBJECT_AGG", "JSON_OBJECT_AGG"])


def share(window: exp.Expr) -> exp.Expr | None:
    """RATIO_TO_REPORT(…) OVER (…): the value divided by the sum of the window; None for another function."""
    call = window.this
    if not isinstance(call, exp.Anonymous) or call.name.upper() != "RATIO_TO_REPORT":
        return None
    value = call.expressions[0]
    total = window.copy()
    total.set("this", exp.Sum(this=value.copy()))
    return exp.Anonymous(this="TRY_DIVIDE", expressions=[value.copy(), total])


def refuse_json(name: str) -> None:
    """Raise Untranslatable for an aggregate that makes JSON."""
    if name in _JSON:
        raise Untranslatable(f"{name} (write spark__to_json(array_agg(…)))")


def _json(node: exp.Expr, dialect: str) -> None:
    name = "JSON_AGG" if isinstance(node, exp.JSONArrayAgg) else "JSON_OBJECT_AGG"
    raise Untranslatable(f"{name} (write spark__to_json(array_agg(…)))")


def _quantiles(node: exp.Expr, dialect: str) -> exp.Expr:
    """APPROX_QUANTILES(x, n): the n + 1 borders of n equal parts."""
    parts = node.expression
    if not isinstance(parts, exp.Literal) or not parts.is_int or not 0 < int(parts.name) <= _MOST_QUANTILES:
        raise Untranslatable(f"APPROX_QUANTILES without a constant number of parts up to {_MOST_QUANTILES}")
    count = int(parts.name)
    shares = [exp.Literal.number(f"{i / count:.12g}") for i in range(count + 1)]
    listed = exp.Anonymous(this="ARRAY", expressions=[exp.cast(one, "double") for one in shares])
    return exp.Anonymous(this="PERCENTILE_APPROX", expressions=[node.this, listed])


def _first(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """FIRST(x ORDER BY y): of the values by that order, nulls included."""
    name = type(node).__name__.upper()
    if not isinstance(node.this, exp.Order):
        return None
    if isinstance(node.parent, (exp.Filter, exp.Window, exp.IgnoreNulls)):
        raise Untranslatable(f"{name} with an order and FILTER, OVER or IGNORE NULLS")
    listed = sorted_by(node.this.this, node.this.expressions, name)
    behind = exp.Neg(this=exp.Literal.number(1)) if isinstance(node, exp.Last) else exp.Literal.number(1)
    return exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[listed, behind])


def _any(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ANY_VALUE(x HAVING MAX y)."""
    if isinstance(node.this, exp.Order):
        return _first(node, dialect)
    if not isinstance(node.this, exp.HavingMax):
        return None
    name = "MAX_BY" if node.this.args.get("max") else "MIN_BY"
    return exp.Anonymous(this=name, expressions=[node.this.this, node.this.expression])


def _joined_texts(node: exp.Expr, dialect: str) -> None:
    """LISTAGG(DISTINCT a, ','), whose separator sqlglot takes for a second value."""
    if isinstance(node.this, exp.Limit):
        raise Untranslatable("STRING_AGG with LIMIT (write array_to_string(array_agg(… LIMIT …), ','))")
    distinct = node.this
    if isinstance(distinct, exp.Distinct) and len(distinct.expressions) == 2:
        node.set("separator", distinct.expressions[1].copy())
        distinct.set("expressions", distinct.expressions[:1])


def _texts_of_nothing(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's LISTAGG without values is an empty text."""
    _joined_texts(node, dialect)
    whole: exp.Expr = node
    while isinstance(whole.parent, (exp.Filter, exp.Window, exp.WithinGroup)) and whole.arg_key == "this":
        whole = whole.parent
    if dialect != "snowflake":
        return None
    filled = exp.Coalesce(this=whole.copy(), expressions=[exp.Literal.string("")])
    if whole is node:
        return filled
    whole.replace(filled)
    return None


def _greatest_values(node: exp.Expr, dialect: str) -> None:
    if dialect != "databricks" and (node.expressions or node.args.get("count")):
        raise Untranslatable(f"{type(node).__name__.upper()}(value, number)")


def refuse_orders(tree: exp.Expr) -> None:
    """Raise Untranslatable for an order inside of an aggregate that Spark has without one."""
    for order in tree.find_all(exp.Order):
        call = order.parent
        if isinstance(call, (exp.AggFunc, exp.Anonymous)) and not isinstance(call, _ORDERED):
            name = call.name if isinstance(call, exp.Anonymous) else call.sql_name()
            raise Untranslatable(f"{name.upper()}(… ORDER BY …)")


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.ApproxQuantiles: _quantiles,
    exp.First: _first,
    exp.Last: _first,
    exp.AnyValue: _any,
    exp.GroupConcat: _texts_of_nothing,
    exp.Max: _greatest_values,
    exp.Min: _greatest_values,
    exp.JSONArrayAgg: _json,
    exp.JSONObjectAgg: _json,
    exp.JSONBObjectAgg: _json,
}
