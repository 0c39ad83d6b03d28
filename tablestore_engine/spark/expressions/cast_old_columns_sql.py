"""Columns of a past type as SQL of the current one (see `schema.casts.cast_old_columns`)."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from tablestore_engine.schema.casts.cast_old_columns import ColumnCast, is_same, never_fails, past_field
from tablestore_engine.schema.types.sql_literals import literal, quoted_name, quoted_text
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    has_root,
)
from tablestore_engine.spark.expressions.spark_types import sql_type

_NOT_READ: Final = "is not read, because the query does not name it"
NOT_READ: Final = re.compile(rf"Column '[^\n]*' {_NOT_READ}")
"""The message of `unread_sql`."""
NOT_READ_HINT: Final = "Add it to the SELECT list."

_AS_NUMBERS = ("TIME",)
_EPOCH = "timestamp_ntz'1970-01-01 00:00:00'"
_MOST_SECONDS = 9_223_372_036_854
# A date and a time of day, and then something that is no fraction of a second.
_HAS_ZONE = "^[^0-9]*[0-9]+-[0-9]+-[0-9]+[ T][0-9]+(:[0-9]+(:[0-9]+([.][0-9]*)?)?)? *[A-Za-z+-]"


def as_scanned(kind: DataType) -> DataType:
    """A type as scans give its values: times of day, which Spark's readers do not know with milliseconds, as numbers of
    them."""
    if isinstance(kind, ArrayType):
        return replace(kind, element=as_scanned(kind.element))
    if isinstance(kind, MapType):
        return replace(kind, key=as_scanned(kind.key), value=as_scanned(kind.value))
    if isinstance(kind, RowType):
        return replace(kind, fields=tuple(replace(one, type=as_scanned(one.type)) for one in kind.fields))
    assert isinstance(kind, AtomicType)
    return AtomicType("INT", kind.nullable) if kind.root in _AS_NUMBERS else kind


def evolved_sql(source: str, past: DataType, current: DataType, how: ColumnCast, depth: int = 0) -> str:
    """SQL of `source`, a scanned column of the type `past`, as `current`. The change is one that `check_readable`
    allows."""
    if is_same(past, current) and not has_root(past, _AS_NUMBERS):
        return source
    if isinstance(past, RowType) and isinstance(current, RowType):
        parts = []
        for field in current.fields:
            stored = past_field(past, field)
            value = (
                null_sql(field.type)
                if stored is None
                else evolved_sql(
                    f"{source}.{quoted_name(stored.name)}", stored.type, field.type, how.at(field.name), depth
                )
            )
            parts.append(f"{quoted_text(field.name)}, {value}")
        return f"CASE WHEN {source} IS NOT NULL THEN named_struct({', '.join(parts)}) END"
    one = f"__tablestore_e{depth}"
    if isinstance(past, ArrayType) and isinstance(current, ArrayType):
        element = evolved_sql(one, past.element, current.element, how.at("element"), depth + 1)
        return f"transform({source}, {one} -> {element})"
    if isinstance(past, MapType) and isinstance(current, MapType):
        value = evolved_sql(one, past.value, current.value, how.at("value"), depth + 1)
        if has_root(past.key, _AS_NUMBERS):
            key = evolved_sql(f"__tablestore_k{depth}", past.key, current.key, how.at("key"), depth + 1)
            source = f"transform_keys({source}, (__tablestore_k{depth}, {one}) -> {key})"
        return f"transform_values({source}, (__tablestore_k{depth}, {one}) -> {value})"
    assert isinstance(current, AtomicType)
    if isinstance(past, AtomicType) and past.root in _AS_NUMBERS:
        source = f"cast(time_from_millis({source}) as {sql_type(past)})"
        if is_same(past, current):
            return source
    return _checked(source, past, current, how)


def null_sql(data_type: DataType) -> str:
    """SQL of a null of a type."""
    return f"cast(null as {sql_type(data_type)})"


def unread_sql(column: str, data_type: DataType) -> str:
    """SQL of an error instead of a column that the query does not name: a DataFrame of it may be sorted by it."""
    error = literal(f"Column '{column}' {_NOT_READ}.")
    return f"cast(raise_error({error}) as {sql_type(data_type)})"


def _checked(source: str, past: DataType, current: AtomicType, how: ColumnCast) -> str:
    """SQL of the cast; where a value cannot be cast, of an error that names it, or of null."""
    value = cast_sql(source, past, current, how.rules.zone)
    if never_fails(past, current) or not how.rules.fails:
        return value
    shown = cast_sql(source, past, AtomicType("STRING"), how.rules.zone)
    failed = f"raise_error(concat({literal(how.complaint(current))}, {shown}, {literal(chr(39) + '.')}))"
    return f"coalesce({value}, CASE WHEN {source} IS NOT NULL THEN cast({failed} as {sql_type(current)}) END)"


def cast_sql(source: str, past: DataType, current: AtomicType, zone: str) -> str:
    """SQL of the cast of a value; null where it cannot be cast.

    The time zone of the session plays no part: `zone` is the table's.
    """
    root = past.root if isinstance(past, AtomicType) else ""
    if current.root in STRING_ROOTS:
        text = f"cast({_clock(source, zone) if root == 'TIMESTAMP_LTZ' else source} as string)"
        return text if current.root == "STRING" else _sized(text, current)
    if current.root in BINARY_ROOTS:
        found = source if root in BINARY_ROOTS else f"cast({source} as binary)"
        return (
            found
            if current.root == "BYTES"
            else f"CASE WHEN octet_length({found}) <= {current.precision} THEN {found} END"
        )
    if current.root in TIMESTAMP_ROOTS:
        return without_digits(_timestamp(source, root, current.root, zone), past, current)
    if root == "TIMESTAMP_LTZ" and current.root in ("DATE", "TIME"):
        source = _clock(source, zone)
    return f"{'cast' if never_fails(past, current) else 'try_cast'}({source} as {sql_type(current)})"


def _sized(text: str, kind: AtomicType) -> str:
    short = f"left({text}, {kind.precision})"
    if kind.root == "CHAR":
        short = f"rpad({short}, {kind.precision}, ' ')"
    return f"CASE WHEN char_length(rtrim({text})) <= {kind.precision} THEN {short} END"


def _timestamp(source: str, root: str, to: str, zone: str) -> str:
    if root == to:
        return source
    if to == "TIMESTAMP":
        return _clock(source, zone) if root == "TIMESTAMP_LTZ" else f"try_cast({source} as timestamp_ntz)"
    if root in STRING_ROOTS:
        local = _instant(f"try_cast({source} as timestamp_ntz)", zone)
        return f"CASE WHEN {source} RLIKE '{_HAS_ZONE}' THEN try_cast({source} as timestamp) ELSE {local} END"
    if root in ("TIMESTAMP", "DATE"):
        return _instant(source if root == "TIMESTAMP" else f"cast({source} as timestamp_ntz)", zone)
    if root == "DECIMAL":
        # Spark keeps the low bits of what is out of range. Its abs() rounds negative numbers to 34 digits.
        within = f"{source} > -{_MOST_SECONDS} AND {source} < {_MOST_SECONDS}"
        return f"CASE WHEN {within} THEN cast({source} as timestamp) END"
    return f"try_cast({source} as timestamp)"


def _clock(source: str, zone: str) -> str:
    """SQL of what a clock in the zone shows at an instant."""
    local = f"unix_micros(from_utc_timestamp({source}, {literal(zone)}))"
    return f"timestampadd(MICROSECOND, {local}, {_EPOCH})"


def _instant(source: str, zone: str) -> str:
    """SQL of the instant at which a clock in the zone shows a time."""
    parts = ", ".join(f"{part}({source})" for part in ("year", "month", "day", "hour", "minute"))
    return f"make_timestamp_ltz({parts}, extract(SECOND FROM {source}), {literal(zone)})"


def without_digits(source: str, past: DataType, current: AtomicType) -> str:
    """SQL of a timestamp without the digits that its type does not have."""
    kept = current.precision or 0
    if kept >= 6 or (isinstance(past, AtomicType) and past.root in TIMESTAMP_ROOTS and (past.precision or 0) <= kept):
        return source
    beyond = f"cast(extract(SECOND FROM {source}) * 1000000 as int) % {10 ** (6 - kept)}"
    return f"timestampadd(MICROSECOND, -({beyond}), {source})"
