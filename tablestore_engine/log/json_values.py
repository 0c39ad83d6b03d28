"""JSON values as Arrow values of the table's types: in which type a column is read, and how it becomes the wanted one.

JSON has few types, and writers of changes use them differently: a number may be a text, a date the days since 1970, an
instant milliseconds or microseconds. So a sample of the values says in which *wire type* Arrow's parser reads a column,
and `fit` casts the column. A value that does not fit is an ArrowInvalid error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.log.json_text import ALPHABET

_ZONE = r"(Z|[+-]\d\d:?\d\d)$"
_DAY_MILLIS = 86_400_000
_MILLIS_BELOW, _MICROS_BELOW = 10**14, 10**17


def wire_type(kind: pa.DataType, sample: Any) -> pa.DataType | None:
    """The type in which values of a kind are read from JSON, by one of them (None: not known); None for no type."""
    if pa.types.is_list(kind):
        inner = wire_type(kind.value_type, next((one for one in sample or () if one is not None), None))
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(kind):
        return _struct_type(kind, sample if isinstance(sample, dict) else {})
    if pa.types.is_map(kind):
        return None
    if isinstance(sample, (dict, list)):
        return None
    if isinstance(sample, bool):
        return pa.bool_() if pa.types.is_boolean(kind) or pa.types.is_string(kind) else None
    if pa.types.is_decimal(kind):
        return kind  # the parser takes numbers and texts
    if isinstance(sample, str) or (sample is None and not _is_number(kind)):
        return pa.bool_() if pa.types.is_boolean(kind) and sample is None else pa.string()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_string(kind):
        return pa.int64() if isinstance(sample, int) else None  # the text of a fraction is not kept by the parser
    return None if pa.types.is_binary(kind) else pa.int64()


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _struct_type(kind: pa.StructType, sample: Mapping[str, Any]) -> pa.DataType | None:
    fields = wire_fields(kind, sample)
    return None if fields is None else pa.struct(fields)


def wire_fields(fields: Iterable[pa.Field], sample: Mapping[str, Any]) -> list[pa.Field] | None:
    """The fields as the parser reads them, in each spelling that the sample has; None if it cannot read one."""
    found = []
    for field in fields:
        for name in _spellings(sample, field.name) or [field.name]:
            kind = wire_type(field.type, sample.get(name))
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


def fit(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """Values as they were read, in the type of the table. Raises ArrowInvalid."""
    given = values.type
    if given == kind:
        return values
    if pa.types.is_null(given):
        return pa.nulls(len(values), kind)
    if pa.types.is_string(given) and pa.types.is_timestamp(kind):
        return _instants(values, kind)
    if pa.types.is_string(given) and pa.types.is_time(kind):
        moment = pc.binary_join_element_wise("1970-01-01", values, " ").cast(pa.timestamp("us"))
        return moment.cast(pa.time64("us")).cast(kind, safe=False)
    if pa.types.is_string(given) and pa.types.is_binary(kind):
        return from_base64(values)
    if pa.types.is_integer(given) and pa.types.is_temporal(kind):
        return _from_number(values, kind)
    if pa.types.is_list(kind):
        return _list(values, kind)
    if pa.types.is_struct(kind):
        return _struct(values, kind)
    return values.cast(kind)


def _list(values: pa.ListArray, kind: pa.ListType) -> pa.Array:
    start, end = values.offsets[0].as_py(), values.offsets[-1].as_py()
    inner = fit(values.values.slice(start, end - start), kind.value_type)
    offsets = pc.subtract(values.offsets, pa.scalar(start, values.offsets.type))
    return pa.ListArray.from_arrays(offsets, inner, kind, mask=values.is_null())


def _struct(values: pa.StructArray, kind: pa.StructType) -> pa.Array:
    if not kind.num_fields:
        return pa.nulls(len(values), kind)
    given = [one.name for one in values.type]
    inner = [_member(values, _spellings(given, one.name), one.type) for one in kind]
    return pa.StructArray.from_arrays(inner, fields=list(kind), mask=values.is_null())


def _member(values: pa.StructArray, names: list[str], kind: pa.DataType) -> pa.Array:
    """A field that the records spell in these ways: the first that is no null."""
    found = [fit(pc.struct_field(values, name), kind) for name in names]
    return pc.coalesce(*found) if found else pa.nulls(len(values), kind)


def _instants(texts: pa.Array, kind: pa.TimestampType) -> pa.Array:
    """Times of day in UTC where a text names no zone."""
    zoned = pc.fill_null(pc.match_substring_regex(texts, _ZONE), False)
    if not pc.any(zoned).as_py() and kind.tz is None:
        return texts.cast(kind)
    with_zone = pc.if_else(zoned, texts, pc.binary_join_element_wise(texts, "Z", ""))
    return with_zone.cast(pa.timestamp(kind.unit, "UTC")).cast(kind)


def _from_number(values: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_date(kind):
        return values.cast(pa.int32()).cast(kind)
    largest = pc.max(pc.abs_checked(values)).as_py() or 0
    if pa.types.is_time(kind):
        millis = values if largest < _DAY_MILLIS else pc.divide(values, 1000)
        return millis.cast(pa.int32()).cast(pa.time32("ms")).cast(kind)
    unit = "ms" if largest < _MILLIS_BELOW else "us" if largest < _MICROS_BELOW else "ns"
    return values.cast(pa.timestamp(unit, kind.tz)).cast(kind, safe=unit == "ms")


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
