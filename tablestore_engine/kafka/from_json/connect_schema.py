"""Schemas inside of messages (Kafka Connect, Debezium): types of columns, units of times and scales of decimals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

_CONNECT, _TIME = "org.apache.kafka.connect.data.", "io.debezium.time."
_DECIMAL, _VARYING_DECIMAL = f"{_CONNECT}Decimal", "io.debezium.data.VariableScaleDecimal"
_MOST_DIGITS = 38
_PLAIN = {
    "int8": pa.int8(), "int16": pa.int16(), "int32": pa.int32(), "int64": pa.int64(),
    "float": pa.float32(), "float32": pa.float32(), "double": pa.float64(), "float64": pa.float64(),
    "boolean": pa.bool_(), "string": pa.string(), "bytes": pa.binary(),
}  # fmt: skip
_TIMES = {
    f"{_CONNECT}Date": (pa.date32(), None),
    f"{_CONNECT}Time": (pa.time32("ms"), "ms"),
    f"{_CONNECT}Timestamp": (pa.timestamp("ms"), "ms"),
    f"{_TIME}Date": (pa.date32(), None),
    f"{_TIME}Time": (pa.time32("ms"), "ms"),
    f"{_TIME}MicroTime": (pa.time32("ms"), "us"),
    f"{_TIME}NanoTime": (pa.time32("ms"), "ns"),
    f"{_TIME}Timestamp": (pa.timestamp("ms"), "ms"),
    f"{_TIME}MicroTimestamp": (pa.timestamp("us"), "us"),
    f"{_TIME}NanoTimestamp": (pa.timestamp("us"), "ns"),
    f"{_TIME}ZonedTimestamp": (pa.timestamp("us", "UTC"), None),
}
"""Types of times, and the units of the numbers. Tables hold times of day in milliseconds, and have no nanoseconds."""


@dataclass(frozen=True)
class Declared:
    """Values as a schema declares them.

    Attributes:
        type: of a column of such values; None if it is not known.
        unit: of numbers that are times.
        scale: of decimals whose unscaled number is given as bytes.
        scale_varies: each decimal is a record of its scale and its unscaled number.
        fields: of a record, by names in lower case.
        names: the names of these fields as they are written.
        element: of a list, or the values of a map.
    """

    type: pa.DataType | None = None
    unit: str | None = None
    scale: int | None = None
    scale_varies: bool = False
    fields: Mapping[str, Declared] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    element: Declared | None = None


def declared_in(schema: Any) -> Declared | None:
    """The values of a schema; None for no schema."""
    if not isinstance(schema, dict):
        return None
    name, kind = str(schema.get("name")), str(schema.get("type"))
    if name in _TIMES:
        column, unit = _TIMES[name]
        return Declared(column, unit)
    if name == _DECIMAL:
        return _decimal(schema.get("parameters"))
    if name == _VARYING_DECIMAL:
        return Declared(pa.string(), scale_varies=True)
    if kind == "array":
        element = declared_in(schema.get("items"))
        inner = element and element.type
        return Declared(None if inner is None else pa.list_(inner), element=element)
    if kind == "map":
        keys, element = declared_in(schema.get("keys")), declared_in(schema.get("values"))
        inner = element and element.type
        is_object = keys is not None and keys.type == pa.string()  # other keys: a list of pairs
        return Declared(None if inner is None or not is_object else pa.map_(pa.string(), inner), element=element)
    if isinstance(schema.get("fields"), list):
        return _record([one for one in schema["fields"] if isinstance(one, dict)])
    return Declared(_PLAIN.get(kind))


def _decimal(parameters: Any) -> Declared:
    """Decimals as the bytes of an unscaled number. Without a precision any number of digits may come."""
    given = parameters if isinstance(parameters, dict) else {}
    try:
        scale = int(given.get("scale", 0))
        precision = int(given.get("connect.decimal.precision", _MOST_DIGITS))
    except (TypeError, ValueError):
        return Declared()
    fits = 0 <= scale <= precision <= _MOST_DIGITS and precision > 0
    return Declared(pa.decimal128(precision, scale) if fits else pa.string(), scale=scale)


def _record(fields: list[dict[str, Any]]) -> Declared:
    names = tuple(str(one.get("field")) for one in fields)
    inner = [declared_in(one) or Declared() for one in fields]
    types = [one.type for one in inner]
    kind = pa.struct(list(zip(names, types, strict=True))) if types and None not in types else None
    by_name = {name.lower(): one for name, one in zip(names, inner, strict=True)}
    return Declared(kind, fields=by_name, names=names)


def member_of(declared: Declared | None, name: str) -> Declared | None:
    """The values of a field of a record."""
    return None if declared is None else declared.fields.get(name.lower())
