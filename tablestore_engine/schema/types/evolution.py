"""How values that were stored as one type are read as another: fields of a ROW by id, widened types by a cast.

Vocabulary: *past* is a column's type in the schema that a file was written with, *current* the one that is read. A
change is *lossless* when every value of the past type is one of the current type, and all readers of the format agree
which.

Invariant: what is not lossless is refused and never cast. Paimon lets a column become nearly any type, and its casts
truncate, round and overflow by rules of their own.
"""

from __future__ import annotations

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
)

_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 19}
_EXACT_IN = {"TINYINT": ("FLOAT", "DOUBLE"), "SMALLINT": ("FLOAT", "DOUBLE"), "INT": ("DOUBLE",), "FLOAT": ("DOUBLE",)}


def is_same(past: DataType, current: DataType) -> bool:
    """Whether values are read as they are stored: the same types, and fields of the same ids and names in one order."""
    if isinstance(past, AtomicType) and isinstance(current, AtomicType):
        return past.as_nullable(True) == current.as_nullable(True)
    if isinstance(past, ArrayType) and isinstance(current, ArrayType):
        return is_same(past.element, current.element)
    if isinstance(past, MapType) and isinstance(current, MapType):
        return is_same(past.key, current.key) and is_same(past.value, current.value)
    if isinstance(past, RowType) and isinstance(current, RowType):
        return len(past.fields) == len(current.fields) and all(
            one.id == other.id and one.name == other.name and is_same(one.type, other.type)
            for one, other in zip(past.fields, current.fields, strict=True)
        )
    return False


def past_field(past: RowType, field: DataField) -> DataField | None:
    """The field of a past ROW that a current one was; None when it came later."""
    return next((one for one in past.fields if one.id == field.id), None)


def check_readable(column: str, past: DataType, current: DataType) -> None:
    """Raise an UnsupportedTypeError, which names the column or field, unless the change of its type is lossless."""
    if isinstance(past, ArrayType) and isinstance(current, ArrayType):
        check_readable(f"{column}.element", past.element, current.element)
    elif isinstance(past, MapType) and isinstance(current, MapType) and is_same(past.key, current.key):
        check_readable(f"{column}.value", past.value, current.value)
    elif isinstance(past, RowType) and isinstance(current, RowType):
        for field in current.fields:
            source = past_field(past, field)
            if source is not None:
                check_readable(f"{column}.{field.name}", source.type, field.type)
    elif not (isinstance(past, AtomicType) and isinstance(current, AtomicType) and is_lossless(past, current)):
        raise UnsupportedTypeError(
            f"Column '{column}' has files in which it is {past.as_nullable(True)}, and these are not read as"
            f" {current.as_nullable(True)}: values could change.",
            hint="A full compaction by the tool that changed the type stores them as the new one.",
        )


def is_lossless(past: AtomicType, current: AtomicType) -> bool:
    """Whether every past value is the same one as the current type."""
    if is_same(past, current):
        return True
    root, to = past.root, current.root
    if root in INTEGER_ROOTS and to in INTEGER_ROOTS:
        return INTEGER_ROOTS.index(root) < INTEGER_ROOTS.index(to)
    if root in _DIGITS and to == "DECIMAL":
        return _whole_digits(current) >= _DIGITS[root]
    if root == to == "DECIMAL":
        return _whole_digits(past) <= _whole_digits(current) and (past.scale or 0) <= (current.scale or 0)
    if to == "STRING":
        return root in STRING_ROOTS or root in INTEGER_ROOTS or root == "BOOLEAN"
    if root in ("CHAR", "VARCHAR") and to == "VARCHAR":
        return (past.precision or 0) <= (current.precision or 0)
    if to == "BYTES":
        return root in BINARY_ROOTS
    if root in ("BINARY", "VARBINARY") and to == "VARBINARY":
        return (past.precision or 0) <= (current.precision or 0)
    if root in TIMESTAMP_ROOTS and root == to:
        return (past.precision or 0) <= (current.precision or 0)
    return to in _EXACT_IN.get(root, ()) or (root == "DATE" and to == "TIMESTAMP")


def _whole_digits(decimal: AtomicType) -> int:
    return (decimal.precision or 10) - (decimal.scale or 0)
