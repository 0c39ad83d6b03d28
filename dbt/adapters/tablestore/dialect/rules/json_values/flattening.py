"""The rows of Snowflake's FLATTEN, of a JSON text or of an array: structs of key, index, value, path and this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.rules.json_parts import call

_TEXTS: Final = "ARRAY<STRING>"


def flattened(value: exp.Expr, more: Sequence[str], prefix: str, mode: str, *, outer: bool) -> exp.Expr:
    """The rows of a JSON array or object, or by `mode` of one of both: key, index and value, which is a text; of
    `more`, path and this."""
    element, index = exp.to_identifier("_e"), exp.to_identifier("_i")
    no_key, no_index = exp.cast(exp.Null(), "text"), exp.cast(exp.Null(), "int")
    pair = [exp.Dot(this=element.copy(), expression=exp.to_identifier(one)) for one in ("key", "value")]
    array = {"key": no_key, "index": index, "value": element, **_further(value, more, _array_path(prefix))}
    of_array = exp.Lambda(this=_entry(array), expressions=[element, index])
    entry = {"key": pair[0], "index": no_index, "value": pair[1], **_further(value, more, _key_path(prefix, pair[0]))}
    of_object = exp.Lambda(this=_entry(entry), expressions=[element.copy()])
    listed = call("FROM_JSON", value.copy(), exp.Literal.string(_TEXTS))
    entries = call("MAP_ENTRIES", call("FROM_JSON", value.copy(), exp.Literal.string("MAP<STRING, STRING>")))
    rows = {"array": call("TRANSFORM", listed, of_array), "object": call("TRANSFORM", entries, of_object)}
    made = rows.get(mode) or call("COALESCE", *rows.values())
    return call("INLINE_OUTER" if outer else "INLINE", made)


def flattened_array(value: exp.Expr, more: Sequence[str], *, outer: bool) -> exp.Expr:
    """The rows of an array: index and value; of `more`, path and this."""
    element, index = exp.to_identifier("_e"), exp.to_identifier("_i")
    entry = {"index": index, "value": element, **_further(value, more, _array_path(""))}
    rows = call("TRANSFORM", value.copy(), exp.Lambda(this=_entry(entry), expressions=[element, index]))
    return call("INLINE_OUTER" if outer else "INLINE", rows)


def _further(value: exp.Expr, more: Sequence[str], path: exp.Expr) -> dict[str, exp.Expr]:
    return {name: path if name == "path" else value for name in more}


def _array_path(prefix: str) -> exp.Expr:
    return call("CONCAT", exp.Literal.string(f"{prefix}["), exp.column("_i"), exp.Literal.string("]"))


def _key_path(prefix: str, key: exp.Expr) -> exp.Expr:
    plain = call("CONCAT", exp.Literal.string(f"{prefix}."), key.copy()) if prefix else key.copy()
    quoted = call("CONCAT", exp.Literal.string(f"{prefix}['"), key.copy(), exp.Literal.string("']"))
    simple = exp.RegexpLike(this=key.copy(), expression=exp.Literal.string("^[A-Za-z_][A-Za-z0-9_$]*$"))
    return call("IF", simple, plain, quoted)


def _entry(fields: Mapping[str, exp.Expr]) -> exp.Expr:
    parts = [part for name, one in fields.items() for part in (exp.Literal.string(name), one.copy())]
    return call("NAMED_STRUCT", *parts)
