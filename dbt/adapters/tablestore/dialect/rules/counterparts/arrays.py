"""Functions of arrays and maps: their elements, sizes and positions, slices, sets, literals of maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.json_parts import call, is_json, step_into

_NULL_BEYOND: Final = ("snowflake", "postgres", "duckdb")
"""Dialects in which an index behind the end of an array gives null; in Spark it is an error."""


def _position(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_POSITION is null where the value is missing, and counts from 0 in Snowflake; Spark's is 0, and from 1."""
    if dialect not in ("snowflake", "postgres", "duckdb"):
        return None
    position = call("ARRAY_POSITION", node.this, node.expression)
    found = call("NULLIF", position, exp.Literal.number(0))
    if not node.args.get("zero_based"):
        return found
    return exp.paren(exp.Sub(this=found, expression=exp.Literal.number(1)), copy=False)


def _size(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The size of a JSON array, and of one dimension: ARRAY_LENGTH(a, 1) of an empty array is null."""
    if dialect in ("snowflake", "redshift") and is_json(node.this):
        return call("JSON_ARRAY_LENGTH", node.this)
    dimension = node.args.get("expression")
    if dialect not in ("postgres", "redshift") or dimension is None:
        return None
    if dimension.name != "1":
        raise Untranslatable("ARRAY_LENGTH of a dimension other than 1")
    return call("NULLIF", call("SIZE", node.this), exp.Literal.number(0))


def _by_key(node: exp.Expr, index: exp.Expr) -> exp.Expr | None:
    """Snowflake's v['k'][0]: JSON is text here. An index alone may be that of an array."""
    inner = node.this
    known = inner.expressions if isinstance(inner, exp.Anonymous) and inner.name == "GET_JSON_OBJECT" else None
    if isinstance(inner, (exp.Struct, exp.Map, exp.VarMap)) or not isinstance(index, exp.Literal):
        return None
    if known is None and not index.is_string:
        return None
    if any(one in index.name for one in "'[]\""):
        raise Untranslatable(f"the key {index.name} of a variant")
    plain = index.is_string and index.name.isidentifier()
    step = f".{index.name}" if plain else f"['{index.name}']" if index.is_string else f"[{index.name}]"
    source, path = (known[0], known[1].name) if known else (inner, "$")
    return call("GET_JSON_OBJECT", source.copy(), exp.Literal.string(path + step))


def _element(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's l[-1] is the last element. sqlglot has made an index of it that counts from 0."""
    index = node.expressions[0] if len(node.expressions) == 1 else None
    if dialect == "snowflake" and index is not None and (found := _by_key(node, index)) is not None:
        return found
    if dialect == "duckdb" and isinstance(node.this, exp.Literal) and node.this.is_string and index is not None:
        length = exp.Literal.number(0 if index.name == "0" else 1)  # Spark takes 0 for 1
        return call("SUBSTRING", node.this, index, length)
    if dialect in ("bigquery", "redshift") and isinstance(index, exp.Literal):
        step = f"['{index.name}']" if index.is_string else f"[{index.name}]"
        return step_into(node.this, step)
    number = isinstance(index, exp.Literal) and not index.is_string
    if dialect in _NULL_BEYOND and number and index is not None:
        return call("GET", node.this, index)
    if dialect != "duckdb" or not isinstance(index, exp.Neg) or not index.this.is_int:
        return None if index is None else _computed_element(node, index, dialect)
    behind = exp.Neg(this=exp.Literal.number(int(index.this.name) - 1))
    return call("TRY_ELEMENT_AT", node.this, behind)


def _computed_element(node: exp.Expr, index: exp.Expr, dialect: str) -> exp.Expr | None:
    """a[i]: sqlglot counts from 0 only where it knows that the index is a number. ELEMENT_AT counts from 1, as these
    dialects do, and takes the key of a map as it is."""
    if isinstance(index, (exp.Literal, exp.Slice, exp.Star)):
        return None
    if dialect == "bigquery" and node.args.get("offset") == 0:
        return (
            call("GET", node.this, index) if node.args.get("safe") else exp.Bracket(this=node.this, expressions=[index])
        )
    counts = dialect in ("duckdb", "postgres", "trino")
    if not counts or annotate_types(index.copy()).is_type(*exp.DataType.INTEGER_TYPES):
        return None
    return call("ELEMENT_AT" if dialect == "trino" else "TRY_ELEMENT_AT", node.this, index)


def _reversed(node: exp.Expr, dialect: str) -> exp.Expr:
    return call("REVERSE", node.this)


def _overlapping(node: exp.Expr, dialect: str) -> exp.Expr:
    return call("ARRAYS_OVERLAP", node.this, node.expression)


def _containing(node: exp.Expr, dialect: str) -> exp.Expr:
    """Postgres' a @> b of arrays."""
    missing = call("ARRAY_EXCEPT", node.expression, node.this)
    return exp.EQ(this=call("SIZE", missing), expression=exp.Literal.number(0))


def _parts(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """STRING_TO_ARRAY and SPLIT_TO_ARRAY."""
    if node.args.get("null") or node.expression is None:
        raise Untranslatable("STRING_TO_ARRAY with a text for null, or without a delimiter")
    parts = exp.Split(this=node.this, expression=node.expression)
    if dialect != "postgres":
        return parts
    empty = exp.EQ(this=node.this.copy(), expression=exp.Literal.string(""))
    return exp.Anonymous(
        this="IF",
        expressions=[
            empty,
            call(
                "ARRAY",
            ),
            parts,
        ],
    )


def _slice(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake, BigQuery and DuckDB name the end; Snowflake and BigQuery count from 0."""
    start, end = node.args.get("start"), node.args.get("end")
    if dialect not in ("snowflake", "duckdb", "bigquery"):
        return None
    plain = isinstance(start, exp.Literal) and isinstance(end, exp.Literal) and start.is_int and end.is_int
    if start is None or end is None or not plain or node.args.get("step"):
        raise Untranslatable("ARRAY_SLICE with computed or negative positions")
    first = int(start.name) + (dialect != "duckdb")
    last = int(end.name) + (dialect == "bigquery")
    numbers = [exp.Literal.number(max(first, 1)), exp.Literal.number(max(last - max(first, 1) + 1, 0))]
    return call("SLICE", node.this, *numbers)


def _without_repeats(node: exp.Expr, dialect: str) -> None:
    """Snowflake's ARRAY_EXCEPT and ARRAY_INTERSECTION count how often a value occurs; Spark's do not."""
    first = (node.expressions or [node.this])[0] if isinstance(node, exp.ArrayIntersect) else node.this
    if node.args.get("is_multiset") and not isinstance(first, (exp.ArrayDistinct, exp.ArrayUniqueAgg)):
        name = "ARRAY_INTERSECTION" if isinstance(node, exp.ArrayIntersect) else "ARRAY_EXCEPT"
        raise Untranslatable(f"{name} of arrays in which a value may occur twice (write array_distinct(a))")
    node.set("is_multiset", None)


def _texts(node: exp.Expr, dialect: str) -> None:
    """ARRAY_TO_STRING of Snowflake, in which nulls are empty texts."""
    if dialect == "snowflake" and node.args.get("null") is None:
        node.set("null", exp.Literal.string(""))


def _map(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's MAP {'a': 1}, and MAP {'a': 1}['a'], whose brackets sqlglot takes for those of the struct."""
    struct = node.this
    if isinstance(struct, exp.Bracket) and len(struct.expressions) == 1:
        made = _map(exp.ToMap(this=struct.this.copy()), dialect)
        return None if made is None else call("TRY_ELEMENT_AT", made, struct.expressions[0])
    pairs = struct.expressions if isinstance(struct, exp.Struct) else []
    if not pairs or not all(isinstance(one, exp.PropertyEQ) for one in pairs):
        return None
    return call("MAP", *(part.copy() for one in pairs for part in (one.this, one.expression)))


def _extreme(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Trino's ARRAY_MAX and ARRAY_MIN are null if one element is."""
    if dialect != "trino":
        return None
    element = exp.to_identifier("_x")
    absent = exp.Lambda(this=exp.Is(this=exp.column("_x"), expression=exp.Null()), expressions=[element])
    name = "ARRAY_MAX" if isinstance(node, exp.ArrayMax) else "ARRAY_MIN"
    return call("IF", call("EXISTS", node.this.copy(), absent), exp.Null(), call(name, node.this))


def _length(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's LEN of a list."""
    listed = isinstance(node.this, (exp.Array, exp.Split, exp.ArrayAgg)) or node.this.meta.get("list")
    return call("SIZE", node.this) if dialect == "duckdb" and listed else None


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.ArrayPosition: _position,
    exp.ArraySize: _size,
    exp.ArrayReverse: _reversed,
    exp.ArrayOverlaps: _overlapping,
    exp.ArrayContainsAll: _containing,
    exp.StringToArray: _parts,
    exp.ArraySlice: _slice,
    exp.ArrayExcept: _without_repeats,
    exp.ArrayIntersect: _without_repeats,
    exp.ArrayToString: _texts,
    exp.ToMap: _map,
    exp.Bracket: _element,
    exp.Length: _length,
    exp.ArrayMax: _extreme,
    exp.ArrayMin: _extreme,
}
