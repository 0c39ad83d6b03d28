"""Between table types and Arrow types.

Data files carry ``PARQUET:field_id`` metadata on every field, nested ones included, so that readers find columns by
id and a rename needs no rewrite. Spark hands over: TIMESTAMP as ``timestamp[us]``, TIMESTAMP_LTZ as
``timestamp[us, tz=UTC]``, DECIMAL as ``decimal128``, STRING as ``string``, BYTES as ``binary``, DATE as ``date32``.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.types.system_columns import (
    SEQUENCE_NUMBER,
    VALUE_KIND,
    element_field_id,
    key_field,
    map_key_field_id,
)
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType

FIELD_ID = b"PARQUET:field_id"

_PLAIN = {
    "BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INT": pa.int32(), "BIGINT": pa.int64(),
    "FLOAT": pa.float32(), "DOUBLE": pa.float64(), "DATE": pa.date32(), "TIME": pa.time32("ms"),
    "CHAR": pa.string(), "VARCHAR": pa.string(), "STRING": pa.string(),
    "BINARY": pa.binary(), "VARBINARY": pa.binary(), "BYTES": pa.binary(),
    "VARIANT": pa.struct([(name, pa.binary()) for name in ("value", "metadata")]),
}  # fmt: skip
_FROM_PLAIN = {
    pa.bool_(): "BOOLEAN", pa.int8(): "TINYINT", pa.int16(): "SMALLINT", pa.int32(): "INT", pa.int64(): "BIGINT",
    pa.uint8(): "SMALLINT", pa.uint16(): "INT", pa.uint32(): "BIGINT",
    pa.float16(): "FLOAT", pa.float32(): "FLOAT", pa.float64(): "DOUBLE", pa.date32(): "DATE", pa.date64(): "DATE",
    pa.string(): "STRING", pa.large_string(): "STRING", pa.string_view(): "STRING",
    pa.binary(): "BYTES", pa.large_binary(): "BYTES", pa.binary_view(): "BYTES",
}  # fmt: skip


_STORED_VARIANT = pa.struct([one.with_nullable(False) for one in _PLAIN["VARIANT"]])


def to_arrow_type(data_type: DataType) -> pa.DataType:
    """The Arrow type in which values of a table type are held, without field ids.

    Fields of structs, elements of arrays and values of maps may be null in it: those of a struct that is null are, and
    Arrow casts no such struct to a type in which they may not. `check_not_null` looks at what is written.
    """
    return _to_arrow(data_type, None, 0)


def _timestamp_unit(precision: int) -> str:
    return "ms" if precision <= 3 else "us" if precision <= 6 else "ns"


def _to_arrow(data_type: DataType, column_id: int | None, depth: int) -> pa.DataType:
    if isinstance(data_type, AtomicType):
        if data_type.root == "DECIMAL":
            return pa.decimal128(data_type.precision or 10, data_type.scale or 0)
        if data_type.root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
            unit = _timestamp_unit(6 if data_type.precision is None else data_type.precision)
            return pa.timestamp(unit, tz="UTC" if data_type.root == "TIMESTAMP_LTZ" else None)
        if data_type.root == "VARIANT" and column_id is not None:
            return _STORED_VARIANT
        return _PLAIN[data_type.root]
    inner = depth + 1
    if isinstance(data_type, ArrayType):
        return pa.list_(_inner("element", data_type.element, column_id, inner, element_field_id))
    if isinstance(data_type, MapType):
        return pa.map_(
            _inner("key", data_type.key, column_id, inner, map_key_field_id).with_nullable(False),
            _inner("value", data_type.value, column_id, inner, element_field_id),
        )
    if isinstance(data_type, RowType):
        return pa.struct([_field(one, column_id is not None).with_nullable(True) for one in data_type.fields])
    raise UnsupportedTypeError(f"The type {data_type} has no Arrow form.")


def _inner(name: str, data_type: DataType, column_id: int | None, depth: int, field_id: object) -> pa.Field:
    arrow = _to_arrow(data_type, column_id, depth)
    metadata = {FIELD_ID: str(field_id(column_id, depth))} if column_id is not None else None  # type: ignore[operator]
    return pa.field(name, arrow, True, metadata)


def _field(field: DataField, with_ids: bool) -> pa.Field:
    metadata = {FIELD_ID: str(field.id)} if with_ids else None
    return pa.field(field.name, _to_arrow(field.type, field.id if with_ids else None, 0), field.type.nullable, metadata)


def arrow_field(field: DataField) -> pa.Field:
    """The Arrow field of a column, with its ids."""
    return _field(field, with_ids=True)


def arrow_schema(fields: Sequence[DataField], key_fields: Sequence[DataField] = (), *, thin: bool = False) -> pa.Schema:
    """The Arrow schema of a data file.

    Without ``key_fields`` that is the columns themselves (append tables); with the trimmed key columns it is
    ``_KEY_…`` columns, ``_SEQUENCE_NUMBER``, ``_VALUE_KIND`` and then the columns (keyed tables). A *thin* file leaves
    the first ones out.
    """
    return pa.schema([arrow_field(one) for one in (*key_value_fields(key_fields, thin=thin), *fields)])


def key_value_fields(key_fields: Sequence[DataField], *, thin: bool = False) -> tuple[DataField, ...]:
    """The columns before the value columns in a keyed table's files; none without a key."""
    if not key_fields:
        return ()
    return (*(() if thin else (key_field(one) for one in key_fields)), SEQUENCE_NUMBER, VALUE_KIND)


def from_arrow_type(arrow: pa.DataType, nullable: bool = True) -> DataType:
    """The table type that holds every value of an Arrow type. ROW fields get ids from 0, to be reassigned.

    Raises:
        UnsupportedTypeError: nulls, durations, unions and the like.
    """
    if arrow in _FROM_PLAIN:
        return AtomicType(_FROM_PLAIN[arrow], nullable)
    if pa.types.is_dictionary(arrow):
        return from_arrow_type(arrow.value_type, nullable)
    if pa.types.is_uint64(arrow):
        return AtomicType("DECIMAL", nullable, 20, 0)
    if pa.types.is_decimal(arrow) and arrow.precision <= 38 and 0 <= arrow.scale <= arrow.precision:
        return AtomicType("DECIMAL", nullable, arrow.precision, arrow.scale)
    if pa.types.is_timestamp(arrow):
        precision = {"s": 0, "ms": 3, "us": 6, "ns": 9}[arrow.unit]
        return AtomicType("TIMESTAMP" if arrow.tz is None else "TIMESTAMP_LTZ", nullable, precision)
    if pa.types.is_time(arrow):
        return AtomicType("TIME", nullable, 0 if arrow.unit == "s" else 3)
    if pa.types.is_fixed_size_binary(arrow):
        return AtomicType("BINARY", nullable, arrow.byte_width)
    if pa.types.is_map(arrow):
        return MapType(
            from_arrow_type(arrow.key_type, False),
            from_arrow_type(arrow.item_type, arrow.item_field.nullable),
            nullable,
        )
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow) or pa.types.is_fixed_size_list(arrow):
        return ArrayType(from_arrow_type(arrow.value_type, arrow.value_field.nullable), nullable)
    if pa.types.is_struct(arrow):
        fields = (DataField(i, one.name, from_arrow_type(one.type, one.nullable)) for i, one in enumerate(arrow))
        return RowType(tuple(fields), nullable)
    raise UnsupportedTypeError(f"The Arrow type {arrow} cannot be held by a table.", hint="Cast it first.")
