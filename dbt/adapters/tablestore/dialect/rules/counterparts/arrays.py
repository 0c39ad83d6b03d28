"""Functions of arrays and maps: their elements, sizes and positions, sets, literals of maps and arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.simplify import simplify

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.counterparts.slices import (
    is_list,
    is_slice,
    of_bounds,
    of_numbers,
    refuse_dimensions,
)
from dbt.adapters.tablestore.dialect.rules.json_parts import (
    call,
    is_json,
    is_part,
    json_elements,
    json_of,
    step_into,
    variant_of,
)

_JOINING: Final = ("postgres", "trino")
_ELEMENTS: Final = (exp.Boolean, exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Length, exp.Upper, exp.Lower)
_CHARACTERS: Final = "filter(split(:a, ''), _x -> _x <> '')"
_WRITTEN: Final = re.compile(r"""\s*(?:"([^"\\]*)"|([^\s",{}\\](?:[^",{}\\]*[^\s",{}\\])?))\s*(,|\Z)""")


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
    if known is None and not index.is_string and not inner.meta.get("json"):
        return None
    if any(one in index.name for one in "'[]\""):
        raise Untranslatable(f"the key {index.name} of a variant")
    plain = index.is_string and index.name.isidentifier()
    step = f".{index.name}" if plain else f"['{index.name}']" if index.is_string else f"[{index.name}]"
    source, path = (known[0], known[1].name) if known else (inner, "$")
    return call("GET_JSON_OBJECT", source.copy(), exp.Literal.string(path + step))


def _element(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """An element of an array or of JSON, the value of a map, and a character of DuckDB's texts. An index behind the end
    is null in some warehouses, and an error in Spark; DuckDB's l[-1] is the last element."""
    index = node.expressions[0] if len(node.expressions) == 1 else None
    if dialect in ("duckdb", "postgres") and index is not None:
        refuse_dimensions(node, dialect)
        if is_slice(index):
            return of_bounds(node.this, index, dialect)
    if dialect == "snowflake" and index is not None and (found := _by_key(node, index)) is not None:
        return found
    if index is not None and (field := _field(node.this.unnest(), index, dialect)) is not None:
        return field
    if dialect == "duckdb" and isinstance(node.this, exp.Literal) and node.this.is_string and index is not None:
        length = exp.Literal.number(0 if index.name == "0" else 1)  # Spark takes 0 for 1
        return call("SUBSTRING", node.this, index, length)
    if dialect == "duckdb" and node.this.meta.get("text") and index is not None:
        number = _from_one(index)
        return call("SUBSTRING", node.this, number, exp.Literal.number(0 if number.name == "0" else 1))
    if dialect in ("bigquery", "redshift") and isinstance(index, exp.Literal):
        step = f"['{index.name}']" if index.is_string else f"[{index.name}]"
        return step_into(node.this, step)
    if index is None or isinstance(index, (exp.Slice, exp.Star)) or index.is_string:
        return None
    if node.args.get("offset") == 1:  # a function that counts from 1, as Spark's does
        return None
    if dialect == "bigquery" and node.args.get("offset") == 0 and not isinstance(index, exp.Literal):
        return (
            call("GET", node.this, index) if node.args.get("safe") else exp.Bracket(this=node.this, expressions=[index])
        )
    return _at(node.this, index, dialect)


def _at(of: exp.Expr, index: exp.Expr, dialect: str) -> exp.Expr | None:
    """a[i], or the value of a map by its key. Where sqlglot knows that the index is a number, it counts from 0, and in
    most dialects from 1 elsewhere."""
    known = annotate_types(index.copy()).is_type(*exp.DataType.INTEGER_TYPES)
    if dialect == "snowflake":  # which counts from 0
        return call("GET", of, index) if known else None
    if dialect == "postgres":
        before = index if known else exp.Sub(this=exp.paren(index), expression=exp.Literal.number(1))
        return call("GET", of, before)
    given = _from_one(index) if known else index
    if dialect == "trino":
        return call("ELEMENT_AT", of, given)
    return element_or_null(of, given) if dialect == "duckdb" else None


def _field(row: exp.Expr, index: exp.Expr, dialect: str) -> exp.Expr | None:
    """The field of a written row by its number, as in ROW(1, 'a')[1]; None of another value."""
    fields: list[exp.Expr] = row.expressions if isinstance(row, exp.Struct) else []
    if isinstance(row, exp.Cast) and row.to.is_type("struct"):
        fields = [exp.Dot(this=row.copy(), expression=one.this.copy()) for one in row.to.expressions
                  if isinstance(one, exp.ColumnDef)]  # fmt: skip
    if dialect not in ("duckdb", "trino") or not isinstance(index, exp.Literal) or not index.is_int:
        return None
    found = fields[int(index.name) - 1 : int(index.name)] if int(index.name) > 0 else []
    if not found or isinstance(found[0], (exp.PropertyEQ, exp.Alias)):
        return None
    made = found[0].copy()
    return exp.paren(made, copy=False) if isinstance(made, (exp.Binary, exp.Unary)) else made


def _with_element(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """An array and an element, or an element and an array: `l || 3`. To a null array, Postgres adds it."""
    sides = [one.unnest() for one in (node.this, node.expression)]
    lists = [is_list(one) for one in sides]
    if dialect == "postgres" and all(lists):
        return _joined(sides)
    if dialect not in _JOINING or lists[0] is lists[1] or not _is_element(sides[lists[0]], dialect):
        return None
    parts: list[exp.Expr] = [call("ARRAY", one.copy()) for one in sides]
    listed = sides[lists[1]].copy()
    absent = dialect == "postgres" and not isinstance(listed, exp.Array)
    parts[lists[1]] = exp.Coalesce(this=listed, expressions=[call("ARRAY")]) if absent else listed
    return call("CONCAT", *parts)


def _joined(sides: list[exp.Expr]) -> exp.Expr | None:
    """Two arrays of Postgres, of which a null one counts for an empty one."""
    if all(isinstance(one, exp.Array) for one in sides):
        return None
    whole = call("CONCAT", *(one.copy() for one in sides))
    return exp.Coalesce(this=whole, expressions=[one.copy() for one in sides])


def _concatenated(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Postgres' ARRAY_CAT."""
    sides = [node.this, *node.expressions]
    return _joined(sides) if dialect == "postgres" and len(sides) == 2 else None


def _is_element(value: exp.Expr, dialect: str) -> bool:
    """Whether a value is surely none of arrays: a text of Postgres without a type may be one."""
    if isinstance(value, exp.Cast):
        return not value.to.is_type("array", "map", "struct", "json", "jsonb")
    known = value.is_number or isinstance(value, _ELEMENTS) or bool(value.meta.get("element"))
    return known or (value.is_string and dialect != "postgres")


def _from_one(index: exp.Expr) -> exp.Expr:
    """The index that sqlglot has made one that counts from 0."""
    if isinstance(index, exp.Add) and index.expression.sql() == "-1":
        return index.this
    return simplify(exp.Add(this=index.copy(), expression=exp.Literal.number(1)))


def element_or_null(of: exp.Expr, index: exp.Expr) -> exp.Expr:
    """The element of an array at an index from 1, or that of a map by its key; null where there is none. Spark's
    TRY_ELEMENT_AT fails at 0."""
    number = index.this if isinstance(index, exp.Neg) else index
    if isinstance(number, exp.Literal) and (number.is_string or number.name != "0"):
        return call("TRY_ELEMENT_AT", of, index)
    array = exp.Like(this=call("TYPEOF", of.copy()), expression=exp.Literal.string("array%"))
    zero = exp.EQ(this=exp.cast(index.copy(), "text"), expression=exp.Literal.string("0"))
    return call("TRY_ELEMENT_AT", of, call("IF", exp.and_(array, zero), exp.Null(), index))


def _reversed(node: exp.Expr, dialect: str) -> exp.Expr:
    return call("REVERSE", node.this)


def _overlapping(node: exp.Expr, dialect: str) -> exp.Expr:
    return call("ARRAYS_OVERLAP", node.this, node.expression)


def texts_of_array(literal: str) -> list[str | None] | None:
    """The elements of Postgres' '{a,"b,c",null}'; None for another text, one with escapes, or of several dimensions."""
    literal = literal.strip()
    if len(literal) < len("{}") or literal[0] != "{" or literal[-1] != "}":
        return None
    inner, made, position = literal[1:-1], list[str | None](), 0
    while inner.strip():
        found = _WRITTEN.match(inner, position)
        if found is None:
            return None
        quoted, plain = found[1], found[2]
        made.append(quoted if plain is None else None if plain.lower() == "null" else plain)
        position = found.end()
        if not found[3]:
            break
    return made


def _containing(node: exp.Expr, dialect: str) -> exp.Expr:
    """Postgres' a @> b of arrays, and b <@ a."""
    sides = (node.this, node.expression)
    whole, part = sides if isinstance(node, exp.ArrayContainsAll) else sides[::-1]
    constant = isinstance(whole, exp.Array) and all(isinstance(one, exp.Literal) for one in whole.expressions)
    if dialect == "postgres" and not constant:
        whole = call("ARRAY_COMPACT", whole)  # a null is never contained
    missing = call("ARRAY_EXCEPT", part, whole)
    return exp.EQ(this=call("SIZE", missing), expression=exp.Literal.number(0))


def _parts(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """STRING_TO_ARRAY and SPLIT_TO_ARRAY. Without a delimiter, Postgres gives the characters."""
    delimiter, absent = node.expression, node.args.get("null")
    if dialect != "postgres":
        if absent is not None or delimiter is None:
            raise Untranslatable("STRING_TO_ARRAY with a text for null, or without a delimiter")
        return exp.Split(this=node.this, expression=delimiter)
    parts: exp.Expr
    if delimiter is None or isinstance(delimiter, exp.Null):
        parts = filled(_CHARACTERS, [node.this])
    else:
        constant = isinstance(delimiter, exp.Literal)
        whole = constant and not delimiter.name
        held = filled("if(:a IS NULL, NULL, array(:a))", [node.this])
        parts = held if whole else exp.Split(this=node.this, expression=delimiter)
        if not constant:
            made = [parts, filled(_CHARACTERS, [node.this]), held, delimiter]
            parts = filled("if(:d IS NULL, :b, if(:d = '', :c, :a))", made)
        empty = exp.EQ(this=node.this.copy(), expression=exp.Literal.string(""))
        parts = call("IF", empty, call("ARRAY"), parts)
    return parts if absent is None else filled("transform(:a, _x -> nullif(_x, :b))", [parts, absent])


def _held(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_CONTAINS of a JSON array."""
    if dialect not in ("snowflake", "redshift") or not is_json(node.this):
        return None
    value = node.expression.unnest()
    value = value.this.unnest() if isinstance(value, exp.Cast) and value.is_type("variant") else value
    held = call("TO_JSON", variant_of(value)) if is_part(value) else json_of(value)
    return call("ARRAY_CONTAINS", json_elements(node.this), held)


def _without_repeats(node: exp.Expr, dialect: str) -> None:
    """Snowflake's ARRAY_EXCEPT and ARRAY_INTERSECTION count how often a value occurs; Spark's do not."""
    first = (node.expressions or [node.this])[0] if isinstance(node, exp.ArrayIntersect) else node.this
    if node.args.get("is_multiset") and not isinstance(first, (exp.ArrayDistinct, exp.ArrayUniqueAgg)):
        name = "ARRAY_INTERSECTION" if isinstance(node, exp.ArrayIntersect) else "ARRAY_EXCEPT"
        raise Untranslatable(f"{name} of arrays in which a value may occur twice (write array_distinct(a))")
    node.set("is_multiset", None)


def _texts(node: exp.Expr, dialect: str) -> None:
    """ARRAY_TO_STRING of Snowflake, in which nulls are empty texts, also of a JSON array."""
    if dialect == "snowflake" and is_json(node.this):
        node.set("this", call("FROM_JSON", node.this, exp.Literal.string("ARRAY<STRING>")))
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


def _counted_from_one(node: exp.Expr, dialect: str) -> None:
    """The number of an element in a lambda of DuckDB's LIST_TRANSFORM and LIST_FILTER; Spark's counts from 0."""
    of = node.expression
    if dialect != "duckdb" or not isinstance(of, exp.Lambda) or len(of.expressions) != 2:
        return
    name = of.expressions[1].name.lower()
    for one in list(of.this.find_all(exp.Identifier)):
        if one.name.lower() == name and not isinstance(one.parent, (exp.Column, exp.Dot, exp.Alias)):
            one.replace(exp.paren(exp.Add(this=one.copy(), expression=exp.Literal.number(1)), copy=False))


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.ArrayPosition: _position,
    exp.ArraySize: _size,
    exp.ArrayReverse: _reversed,
    exp.ArrayOverlaps: _overlapping,
    exp.StringToArray: _parts,
    exp.ArraySlice: of_numbers,
    exp.ArrayContainsAll: _containing,
    exp.ArrayContainedBy: _containing,
    exp.ArrayContains: _held,
    exp.ArrayExcept: _without_repeats,
    exp.ArrayIntersect: _without_repeats,
    exp.ArrayToString: _texts,
    exp.ToMap: _map,
    exp.Bracket: _element,
    exp.DPipe: _with_element,
    exp.ArrayConcat: _concatenated,
    exp.Length: _length,
    exp.ArrayMax: _extreme,
    exp.ArrayMin: _extreme,
    exp.Transform: _counted_from_one,
    exp.ArrayFilter: _counted_from_one,
}
