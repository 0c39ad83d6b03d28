"""JSON of many rows: JSONB_AGG, JSONB_OBJECT_AGG, and DuckDB's JSON_GROUP_ARRAY and JSON_GROUP_OBJECT.

An array of plain values is written by TO_JSON. One of JSON values, which are texts, is these texts joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.aggregates import array_of_rows
from dbt.adapters.tablestore.dialect.rules.counterparts.clauses import around
from dbt.adapters.tablestore.dialect.rules.json_parts import call, is_part, variant_of, with_nulls
from dbt.adapters.tablestore.dialect.rules.json_values.given import json_text

_DIALECTS: Final = ("postgres", "duckdb")
_OF_PAIRS: Final = ("JSONB_OBJECT_AGG", "JSON_OBJECT_AGG", "JSON_GROUP_OBJECT")
NAMES: Final = frozenset(["JSONB_AGG", "JSON_AGG", "JSON_GROUP_ARRAY", *_OF_PAIRS])
"""Functions of this kind that sqlglot leaves as they are in some dialect."""


def json_of_rows(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The JSON that a function called by its name makes of rows."""
    name, given = node.name.upper(), node.expressions
    if dialect not in _DIALECTS or len(given) != (2 if name in _OF_PAIRS else 1):
        raise Untranslatable(f"{name} (write spark__to_json(array_agg(…)))")
    if name in _OF_PAIRS:
        return _object(*given)
    _put_array(node, given[0], None, dialect)
    return None


def _known_array(node: exp.Expr, dialect: str) -> None:
    if dialect not in _DIALECTS or node.args.get("null_handling"):
        raise Untranslatable("JSON_ARRAYAGG (write spark__to_json(array_agg(…)))")
    _put_array(node, node.this, node.args.get("order"), dialect)


def _known_object(node: exp.Expr, dialect: str) -> exp.Expr | None:
    given = node.expressions if isinstance(node, exp.JSONObjectAgg) else [node.this, node.expression]
    if dialect not in _DIALECTS or len(given) != 2:
        raise Untranslatable("JSON_OBJECTAGG (write spark__to_json(spark__map_from_entries(array_agg(…))))")
    return _object(*given)


def _put_array(node: exp.Expr, given: exp.Expr, order: exp.Expr | None, dialect: str) -> None:
    """Put the JSON of a list where the aggregate is, with its clauses inside. Nulls stay."""
    order = given if isinstance(given, exp.Order) else order
    item = given.this if isinstance(given, exp.Order) else given
    distinct = isinstance(item, exp.Distinct)
    value = item.expressions[0] if distinct else item
    value = _row(value, dialect)
    made = value.unnest()
    written = json_text(made) if is_part(made) or _is_written(made) else None
    inner: exp.Expr = (value if written is None else written).copy()
    inner = exp.Distinct(expressions=[inner]) if distinct else inner
    if order is not None:
        inner = exp.Order(this=inner, expressions=[one.copy() for one in order.expressions])
    listed = exp.ArrayAgg(this=inner)
    node.replace(listed)
    whole, _ = around(listed)
    holder = call("TO_JSON", exp.Null()) if written is None else call("ARRAY_JOIN", exp.Null())
    text = holder if written is None else call("CONCAT", exp.Literal.string("["), holder, exp.Literal.string("]"))
    text.meta["json"] = written is not None
    whole.replace(text)
    rest = [with_nulls()] if written is None else [exp.Literal.string(","), exp.Literal.string("null")]
    holder.set("expressions", [whole, *rest])
    result = array_of_rows(listed, dialect)
    if result is not None:
        listed.replace(result)


def _row(value: exp.Expr, dialect: str) -> exp.Expr:
    """A value; of Postgres' ROW(a, b), (a, b) and t.*, a struct with the names that the fields have there."""
    inner = value.unnest()
    if isinstance(inner, exp.Column) and inner.is_star:
        return call("STRUCT", inner.copy())
    plain = isinstance(inner, exp.Anonymous) and inner.name.upper() in ("ROW", "STRUCT")
    fields = inner.expressions
    if dialect != "postgres" or not (plain or isinstance(inner, exp.Tuple)) or any(one.is_star for one in fields):
        return value
    named = ((exp.Literal.string(f"f{number}"), one.copy()) for number, one in enumerate(fields, start=1))
    return call("NAMED_STRUCT", *(part for pair in named for part in pair))


def _is_written(value: exp.Expr) -> bool:
    """Whether a value is JSON that TO_JSON makes."""
    return isinstance(value, exp.Anonymous) and value.name == "TO_JSON"


def _object(key: exp.Expr, value: exp.Expr) -> exp.Expr:
    """An object of the pairs of all rows; null without rows. Of two pairs of one key, Spark makes an error."""
    inner = value.unnest()
    if _is_written(inner):
        value = inner.expressions[0]
    elif is_part(inner):
        value = variant_of(inner)
    pair = call("STRUCT", exp.cast(key.copy(), "text"), value.copy())
    made = call("TO_JSON", call("MAP_FROM_ENTRIES", call("COLLECT_LIST", pair)), with_nulls())
    none = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    text = call("IF", none, exp.Null(), made)
    text.meta["json"] = True
    return text


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.JSONArrayAgg: _known_array,
    exp.JSONObjectAgg: _known_object,
    exp.JSONBObjectAgg: _known_object,
}
