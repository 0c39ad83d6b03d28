"""JSON values as Arrow values of the table's types: in which type a column is read, and how it becomes the wanted one.

JSON has few types, and writers of changes use them differently: a number may be a text, a date the days since 1970, an
instant milliseconds or microseconds. So a sample of the values says in which *wire type* Arrow's parser reads a column,
and `fit` casts the column. A value that does not fit is an ArrowInvalid error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.kafka.from_json.connect_schema import Declared, member_of
from tablestore_engine.kafka.from_json.decimal_bytes import decimals, decimals_of_records
from tablestore_engine.kafka.json_encode import ALPHABET

_ZONE = r"(Z|[+-]\d\d:?\d\d)$"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_DIGITS = 38
_DAY_MILLIS = 86_400_000
_BOUNDS = {"ms": (0, 10**14), "us": (10**14, 10**17), "ns": (10**17, 2**63)}
_PER_MILLI = {"ms": 1, "us": 1000, "ns": 10**6}
VARYING_DECIMAL = pa.struct([("scale", pa.int32()), ("value", pa.string())])
"""A decimal with its own scale, as the parser reads it."""


def wire_type(kind: pa.DataType, sample: Any, declared: Declared | None = None) -> pa.DataType | None:
    """The type in which values of a kind are read from JSON, by one of them (None: not known); None for no type."""
    if declared is not None and not pa.types.is_nested(kind):
        if declared.scale_varies and (sample is None or isinstance(sample, dict)):
            return VARYING_DECIMAL
        if declared.scale is not None and (sample is None or isinstance(sample, str)):
            return pa.string()
    if pa.types.is_list(kind):
        element = next((one for one in _elements(sample) if one is not None), None)
        inner = wire_type(kind.value_type, element, declared and declared.element)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(kind):
        return _struct_type(kind, sample if isinstance(sample, dict) else {}, declared)
    if pa.types.is_map(kind):
        return None
    if isinstance(sample, (dict, list)):
        return None
    if isinstance(sample, bool):
        return pa.bool_() if pa.types.is_boolean(kind) or pa.types.is_string(kind) else None
    if pa.types.is_decimal(kind):
        return _wide(kind)  # the parser takes numbers and texts
    if isinstance(sample, str) or (sample is None and not _is_number(kind)):
        return pa.bool_() if pa.types.is_boolean(kind) and sample is None else pa.string()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_string(kind):
        return pa.int64() if isinstance(sample, int) else None  # the text of a fraction is not kept by the parser
    return None if pa.types.is_binary(kind) else pa.int64()


def _wide(kind: pa.Decimal128Type) -> pa.DataType:
    """A type of decimals that holds whatever the parser takes for one: it checks the digits of a text, and then shifts
    them by the scale without another check. It is never the type itself, so that the cast to this checks the result."""
    most = _DIGITS - kind.scale
    return pa.decimal128(most, kind.scale) if kind.precision < most else pa.decimal256(_DIGITS, kind.scale)


def _elements(sample: Any) -> list[Any]:
    return sample if isinstance(sample, list) else []


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _struct_type(kind: pa.StructType, sample: Mapping[str, Any], declared: Declared | None) -> pa.DataType | None:
    fields = _wire_fields(kind, sample, declared)
    return None if fields is None else pa.struct(fields)


def wire_row(
    schema: pa.Schema, rows: Sequence[Mapping[str, Any]], declared: Declared | None = None
) -> list[pa.Field] | None:
    """The fields of a row as the parser reads them, in each spelling that some rows have; None if it cannot."""
    sample: dict[str, Any] = {}
    texts = {one.name.lower() for one in schema if pa.types.is_string(one.type)}
    for row in rows:
        for key, value in row.items():
            known = sample.get(key)
            as_text = isinstance(value, str) and not isinstance(known, str) and key.lower() in texts
            sample[key] = value if as_text else _merged(known, value)
    return _wire_fields(schema, sample, declared)


def _merged(known: Any, value: Any) -> Any:
    """The first of two values, with the members of both."""
    if isinstance(known, dict) and isinstance(value, dict):
        return {name: _merged(known.get(name), value.get(name)) for name in {**known, **value}}
    if isinstance(known, list) and isinstance(value, list):
        return [reduce(_merged, [*known, *value], None)]
    return value if known is None else known


def lacks_values(rows: pa.Table) -> npt.NDArray[np.bool_]:
    """Which rows have a null, or may have one inside of a value."""
    lacks: npt.NDArray[np.bool_] = np.zeros(rows.num_rows, bool)
    for column in rows.columns:
        if column.null_count or pa.types.is_nested(column.type):
            lacks |= ~column.is_valid().to_numpy() | pa.types.is_nested(column.type)
    return lacks


def names_of(fields: Iterable[pa.Field]) -> Iterator[str]:
    """The names of columns, and of all fields inside."""
    for one in fields:
        yield one.name
        yield from names_of(one.type.field(at) for at in range(one.type.num_fields))


def _wire_fields(
    fields: Iterable[pa.Field], sample: Mapping[str, Any], declared: Declared | None
) -> list[pa.Field] | None:
    """The fields as the parser reads them, in each spelling that the sample has; None if it cannot read one."""
    found = []
    for field in fields:
        for name in _spellings(sample, field.name) or [field.name]:
            kind = wire_type(field.type, sample.get(name), member_of(declared, field.name))
            if kind is None:
                return None
            found.append(pa.field(name, kind))
    return found


def _spellings(names: Iterable[str], wanted: str) -> list[str]:
    """Those of the names that are the wanted one in any case, the exact one first."""
    lowered = wanted.lower()
    return sorted((one for one in names if one.lower() == lowered), key=lambda one: one != wanted)


def members(record: Mapping[str, Any], fields: Iterable[pa.Field]) -> Iterator[tuple[pa.Field, Any]]:
    """Each field with its value in a record, whose names may have other cases."""
    in_any_case = {name.lower(): value for name, value in record.items() if value is not None}
    for field in fields:
        exact = record.get(field.name)
        yield field, in_any_case.get(field.name.lower()) if exact is None else exact


def fit(values: pa.Array, kind: pa.DataType, declared: Declared | None = None) -> pa.Array:
    """Values as they were read, in the type of the table. Raises ArrowInvalid."""
    given = values.type
    if given == kind and (declared is None or not (pa.types.is_string(kind) or pa.types.is_nested(kind))):
        return values
    if pa.types.is_null(given):
        return pa.nulls(len(values), kind)
    if declared is not None and declared.scale is not None and pa.types.is_string(given):
        return decimals(from_base64(values), declared.scale, kind)
    if declared is not None and declared.scale_varies and pa.types.is_struct(given):
        raw = from_base64(pc.struct_field(values, "value"))
        return decimals_of_records(raw, pc.struct_field(values, "scale"), kind)
    if pa.types.is_string(given) and pa.types.is_timestamp(kind):
        return _instants(values, kind)
    if pa.types.is_string(given) and pa.types.is_time(kind):
        moment = pc.binary_join_element_wise("1970-01-01", values, " ").cast(pa.timestamp("us"))
        return moment.cast(pa.time64("us")).cast(kind, safe=False)
    if pa.types.is_string(given) and pa.types.is_binary(kind):
        return from_base64(values)
    if pa.types.is_string(given) and pa.types.is_decimal(kind):
        return pa.array([_decimal(one) for one in values.to_pylist()], kind)
    if pa.types.is_integer(given) and pa.types.is_temporal(kind):
        return _from_number(values, kind, None if declared is None else declared.unit)
    if pa.types.is_list(kind):
        return _list(values, kind, declared and declared.element)
    if pa.types.is_struct(kind):
        return _struct(values, kind, declared)
    return values.cast(kind)


def _decimal(text: str | None) -> Decimal | None:
    """The number of a text, which the parser has refused: Arrow's cast of texts takes some long ones for others."""
    if text is None:
        return None
    if _NUMBER.fullmatch(text) is None:
        raise pa.ArrowInvalid(f"'{text}' is no number")
    return Decimal(text)


def _list(values: pa.ListArray, kind: pa.ListType, declared: Declared | None) -> pa.Array:
    start, end = values.offsets[0].as_py(), values.offsets[-1].as_py()
    inner = fit(values.values.slice(start, end - start), kind.value_type, declared)
    offsets = pc.subtract(values.offsets, pa.scalar(start, values.offsets.type))
    return pa.ListArray.from_arrays(offsets, inner, kind, mask=values.is_null())


def _struct(values: pa.StructArray, kind: pa.StructType, declared: Declared | None) -> pa.Array:
    if not kind.num_fields:
        return pa.nulls(len(values), kind)
    given = [one.name for one in values.type]
    inner = [_member(values, _spellings(given, one.name), one.type, member_of(declared, one.name)) for one in kind]
    return pa.StructArray.from_arrays(inner, fields=list(kind), mask=values.is_null())


def _member(values: pa.StructArray, names: list[str], kind: pa.DataType, declared: Declared | None) -> pa.Array:
    """A field that the records spell in these ways: the first that is no null."""
    found = [fit(pc.struct_field(values, name), kind, declared) for name in names]
    return pc.coalesce(*found) if found else pa.nulls(len(values), kind)


def _instants(texts: pa.Array, kind: pa.TimestampType) -> pa.Array:
    """Times of day in UTC where a text names no zone."""
    zoned = pc.fill_null(pc.match_substring_regex(texts, _ZONE), False)
    if not pc.any(zoned).as_py() and kind.tz is None:
        return texts.cast(kind)
    with_zone = pc.if_else(zoned, texts, pc.binary_join_element_wise(texts, "Z", ""))
    return with_zone.cast(pa.timestamp(kind.unit, "UTC")).cast(kind)


def _from_number(values: pa.Array, kind: pa.DataType, unit: str | None) -> pa.Array:
    """Numbers as times. Without a unit each value is taken by its own size, whatever the others are."""
    if pa.types.is_date(kind):
        return values.cast(pa.int32()).cast(kind)
    size = pc.abs_checked(values)
    if pa.types.is_time(kind):
        return _time_of_day(values, kind, unit)
    if unit:
        return values.cast(pa.timestamp(unit, kind.tz)).cast(kind, safe=unit == "ms")
    parts = [pa.nulls(len(values), kind)]
    for one, (low, high) in _BOUNDS.items():
        fits = pc.and_(pc.greater_equal(size, low), pc.less_equal(size, high - 1))
        if pc.any(fits).as_py():
            chosen = pc.if_else(fits, values, pa.scalar(None, values.type))
            parts.append(chosen.cast(pa.timestamp(one, kind.tz)).cast(kind, safe=one == "ms"))
    return pc.coalesce(*parts) if len(parts) != 2 else parts[1]


def _time_of_day(values: pa.Array, kind: pa.DataType, unit: str | None) -> pa.Array:
    if unit:
        millis = pc.divide(values, _PER_MILLI[unit])
    else:
        millis = pc.if_else(pc.less(values, _DAY_MILLIS), values, pc.divide(values, 1000))
    outside = pc.or_(pc.less(millis, 0), pc.greater_equal(millis, _DAY_MILLIS))
    if pc.any(outside).as_py():
        raise pa.ArrowInvalid(f"{values.filter(outside)[0]} is no time of day")
    return millis.cast(pa.int32()).cast(pa.time32("ms")).cast(kind)


_VALUES = np.full(256, 255, np.uint8)
_VALUES[ALPHABET] = np.arange(64)
_VALUES[ord("=")] = 0


def from_base64(texts: pa.Array) -> pa.Array:
    """The bytes of texts in Base64, for all values at once. Raises ArrowInvalid."""
    filled = texts.cast(pa.large_string()).fill_null("")
    offsets = np.frombuffer(filled.buffers()[1], np.int64)[filled.offset : filled.offset + len(filled) + 1]
    data = filled.buffers()[2]
    content = np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]] if data is not None else np.zeros(0, np.uint8)
    sizes = np.diff(offsets)
    codes = _VALUES[content]
    if (sizes % 4).any() or (codes == 255).any():
        raise pa.ArrowInvalid("bytes are not in Base64")
    groups = codes.reshape(-1, 4).astype(np.uint32)
    bits = groups[:, 0] << 18 | groups[:, 1] << 12 | groups[:, 2] << 6 | groups[:, 3]
    decoded = np.stack([bits >> shift & 255 for shift in (16, 8, 0)], axis=1).astype(np.uint8).ravel()
    is_padding = (content == ord("=")).astype(np.int64)
    before = np.concatenate(([0], np.cumsum(is_padding)))
    ends = offsets - offsets[0]
    lacking = before[ends[1:]] - before[ends[:-1]]
    lengths = sizes // 4 * 3 - lacking
    keep = np.ones(len(decoded), bool)
    for row in (1, 2):
        keep[(ends[1:] // 4 * 3 - row)[lacking >= row]] = False
    made = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    kept = pa.py_buffer(decoded[keep])
    found = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(sizes), [None, pa.py_buffer(made), kept])
    found = found.cast(pa.binary())
    return pc.if_else(texts.is_null(), None, found) if texts.null_count else found
