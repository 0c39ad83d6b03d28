"""How values that were stored as one type are read as another: fields of a ROW by id, all else by Spark's own cast.

Vocabulary: *past* is a column's type in the schema that a file was written with, *current* the one that is read. A
change is *implicit* when it needs no option (the implicit casts of Flink's SQL), *explicit* when Spark's ``cast`` can
do it. A *mode* says what a table allows, and what becomes of a value that cannot be cast.

Invariant: reading takes any cast that Spark knows, whatever the mode, since another tool may have changed the type;
`check_retype` decides what this engine changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from tablestore_engine.errors import CastError, SchemaError, UnsupportedTypeError
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_DIGITS,
    INTEGER_ROOTS,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    has_root,
    inner_pairs,
)

CAST_FAILED = "An older file holds a value that cannot be cast to what is now the type of its column"
CAST_HINT = "Set 'schema.evolution.cast' = 'explicit-null' to read such values as null, or change the type back."
ANOTHER_COLUMN = "Add a column of the new type, fill it by UPDATE, and drop the old one."
_EXACT_IN = {"TINYINT": ("FLOAT", "DOUBLE"), "SMALLINT": ("FLOAT", "DOUBLE"), "INT": ("DOUBLE",), "FLOAT": ("DOUBLE",)}
_NUMBERS = (*INTEGER_ROOTS, "FLOAT", "DOUBLE", "DECIMAL")
_SIZED = {"CHAR": STRING_ROOTS, "VARCHAR": STRING_ROOTS, "BINARY": BINARY_ROOTS, "VARBINARY": BINARY_ROOTS}
_IMPLICIT = {
    "DECIMAL": _NUMBERS,
    "DOUBLE": _NUMBERS,
    "FLOAT": (*INTEGER_ROOTS, "DECIMAL"),
    "VARCHAR": ("CHAR",),
    "STRING": ("CHAR", "VARCHAR"),
    "VARBINARY": ("BINARY",),
    "BYTES": ("BINARY", "VARBINARY"),
    "DATE": ("TIMESTAMP",),
    "TIME": ("TIMESTAMP",),
    "TIMESTAMP": ("TIMESTAMP_LTZ",),
    "TIMESTAMP_LTZ": ("TIMESTAMP",),
}
# The types that Spark's ANSI cast takes, besides a cast to STRING, which takes everything.
_EXPLICIT = {
    "BOOLEAN": (*STRING_ROOTS, *_NUMBERS),
    **dict.fromkeys(_NUMBERS, (*STRING_ROOTS, *_NUMBERS, "BOOLEAN", "TIMESTAMP_LTZ")),
    **dict.fromkeys(BINARY_ROOTS, (*STRING_ROOTS, *BINARY_ROOTS)),
    "DATE": (*STRING_ROOTS, *TIMESTAMP_ROOTS),
    "TIME": (*STRING_ROOTS, *TIMESTAMP_ROOTS),
    "TIMESTAMP": (*STRING_ROOTS, *TIMESTAMP_ROOTS, "DATE"),
    "TIMESTAMP_LTZ": (*STRING_ROOTS, *TIMESTAMP_ROOTS, "DATE", *_NUMBERS),
}
_ZONED = ("DATE", "TIME", "TIMESTAMP", *STRING_ROOTS)


class CastMode(str, Enum):
    """A table's `schema.evolution.cast`."""

    IMPLICIT = "implicit"
    EXPLICIT_ERROR = "explicit-error"
    EXPLICIT_NULL = "explicit-null"


@dataclass(frozen=True)
class CastRules:
    """How a table casts values of older files: its mode, and the time zone that such casts take."""

    mode: CastMode = CastMode.IMPLICIT
    zone: str = "UTC"

    @property
    def fails(self) -> bool:
        """Whether a value that cannot be cast is an error; else it is null."""
        return self.mode is not CastMode.EXPLICIT_NULL


@dataclass(frozen=True)
class ColumnCast:
    """The rules for the values of a column or field, which messages name."""

    column: str
    rules: CastRules

    def at(self, field: str) -> ColumnCast:
        """The same for a field or element of it."""
        return replace(self, column=f"{self.column}.{field}")

    def complaint(self, current: DataType) -> str:
        """The beginning of the message that names a value; its text and a quote end it."""
        return f"{CAST_FAILED}: column '{self.column}' is {current.as_nullable(True)}, and the value is '"


def cast_error(how: ColumnCast, current: DataType, value: object) -> CastError:
    """The error for a value that cannot be cast."""
    return CastError(f"{how.complaint(current)}{value}'.", hint=CAST_HINT)


def is_same(past: DataType, current: DataType) -> bool:
    """Whether values are read as they are stored: the same types, and fields of the same ids and names in one order."""
    if isinstance(past, AtomicType) and isinstance(current, AtomicType):
        return past == current or past.as_nullable(True) == current.as_nullable(True)
    if isinstance(past, RowType) and isinstance(current, RowType):
        return len(past.fields) == len(current.fields) and all(
            one.id == other.id and one.name == other.name and is_same(one.type, other.type)
            for one, other in zip(past.fields, current.fields, strict=True)
        )
    inside = inner_pairs(past, current)
    return bool(inside) and all(is_same(one, other) for _, one, other in inside)


def past_field(past: RowType, field: DataField) -> DataField | None:
    """The field of a past ROW that a current one was; None when it came later."""
    return next((one for one in past.fields if one.id == field.id), None)


def check_retype(column: str, past: DataType, current: DataType, mode: CastMode) -> None:
    """Raise a SchemaError, which names the column or field, unless a table may change its type so.

    That some value cannot be cast shows when it is read (see `CastMode`): no data is looked at here.
    """
    found = _first_pair(column, past, current, is_castable if mode is not CastMode.IMPLICIT else is_implicit)
    if found is None:
        return
    name, source, target = found
    hint = ANOTHER_COLUMN
    if is_castable(source, target):
        hint = (
            "Set 'schema.evolution.cast' = 'explicit-error', by which a value that cannot be cast is an error when it"
            " is read, or 'explicit-null', by which it is null."
        )
        raise SchemaError(
            f"Column '{name}' cannot become {target.as_nullable(True)}: no implicit cast leads there from"
            f" {source.as_nullable(True)}.",
            hint=hint,
        )
    raise SchemaError(
        f"Column '{name}' cannot become {target.as_nullable(True)}: no cast leads there from"
        f" {source.as_nullable(True)}.",
        hint=hint,
    )


def unreadable(column: str, past: DataType, current: DataType) -> tuple[str, DataType, DataType] | None:
    """The first column or field with no cast from its past type to the current one, and both; None if all have one."""
    return _first_pair(column, past, current, is_castable)


def check_readable(column: str, past: DataType, current: DataType) -> None:
    """Raise an UnsupportedTypeError, which names the column or field, unless a cast leads from type to type."""
    found = unreadable(column, past, current)
    if found is not None:
        name, source, target = found
        raise UnsupportedTypeError(
            f"Column '{name}' has files in which it is {source.as_nullable(True)}, and these are not read as"
            f" {target.as_nullable(True)}: Spark has no such cast.",
            hint="A full compaction by the tool that changed the type stores them as the new one.",
        )


def stays_stored(past: DataType, current: DataType) -> bool:
    """Whether a full compaction may leave files with values of a past type: each is the same as one of the present
    type, and the casts that lead on from there lead on from here."""
    return _first_pair("", past, current, _stays_stored) is None


def _stays_stored(past: DataType, current: DataType) -> bool:
    if not isinstance(past, AtomicType) or not isinstance(current, AtomicType):
        return False
    families = (_NUMBERS, STRING_ROOTS, BINARY_ROOTS)
    alike = past.root == current.root or any(past.root in one and current.root in one for one in families)
    return alike and is_lossless(past, current)


def _first_pair(
    column: str, past: DataType, current: DataType, allows: Callable[[DataType, DataType], bool]
) -> tuple[str, DataType, DataType] | None:
    """The first column or field whose change is not allowed, with its types."""
    if isinstance(past, ArrayType) and isinstance(current, ArrayType):
        return _first_pair(f"{column}.element", past.element, current.element, allows)
    if isinstance(past, MapType) and isinstance(current, MapType) and is_same(past.key, current.key):
        return _first_pair(f"{column}.value", past.value, current.value, allows)
    if isinstance(past, RowType) and isinstance(current, RowType):
        pairs = ((one, past_field(past, one)) for one in current.fields)
        found = (_first_pair(f"{column}.{one.name}", old.type, one.type, allows) for one, old in pairs if old)
        return next((one for one in found if one is not None), None)
    return None if is_same(past, current) or allows(past, current) else (column, past, current)


def is_implicit(past: DataType, current: DataType) -> bool:
    """Whether a change of one value's type needs no option."""
    if not isinstance(past, AtomicType) or not isinstance(current, AtomicType):
        return False
    root, to = past.root, current.root
    if root in INTEGER_ROOTS and to in INTEGER_ROOTS:
        return INTEGER_ROOTS.index(root) <= INTEGER_ROOTS.index(to)
    if to in _SIZED and root in (*_IMPLICIT.get(to, ()), to):
        return (past.precision or 0) <= (current.precision or 0)
    return root == to or root in _IMPLICIT.get(to, ())


def is_castable(past: DataType, current: DataType) -> bool:
    """Whether Spark's ``cast`` takes a value of one type to the other, under its ANSI rules."""
    if not isinstance(current, AtomicType):
        return False
    if has_root(past, ("VARIANT",)) or has_root(current, ("VARIANT",)):
        return False
    if not isinstance(past, AtomicType):
        # The text of an instant would depend on the time zone of the session.
        return current.root in STRING_ROOTS and not has_root(past, ("TIMESTAMP_LTZ",))
    known = _EXPLICIT.get(current.root, ())
    return current.root in STRING_ROOTS or past.root == current.root or past.root in known


def never_fails(past: DataType, current: DataType) -> bool:
    """Whether a cast that `is_castable` allows has a result for each value."""
    if not isinstance(past, AtomicType) or not isinstance(current, AtomicType):
        return isinstance(current, AtomicType) and current.root == "STRING"
    root, to = past.root, current.root
    if to in ("STRING", "BYTES") or is_lossless(past, current):
        return True
    if root in _NUMBERS or root == "BOOLEAN":
        return to in ("FLOAT", "DOUBLE", "BOOLEAN") or (root == "BOOLEAN" and to in INTEGER_ROOTS)
    if root == "TIMESTAMP_LTZ" and to in ("BIGINT", "FLOAT", "DOUBLE"):
        return True
    return root in ("DATE", *TIMESTAMP_ROOTS) and to in ("DATE", *TIMESTAMP_ROOTS)


def is_lossless(past: AtomicType, current: AtomicType) -> bool:
    """Whether every past value is the same one as the current type."""
    if is_same(past, current):
        return True
    root, to = past.root, current.root
    if root in INTEGER_ROOTS and to in INTEGER_ROOTS:
        return INTEGER_ROOTS.index(root) < INTEGER_ROOTS.index(to)
    if root in INTEGER_DIGITS and to == "DECIMAL":
        return _whole_digits(current) >= INTEGER_DIGITS[root]
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


def depends_on_zone(past: DataType, current: DataType) -> bool:
    """Whether a cast takes the time zone `schema.evolution.time-zone`: between an instant and what a clock shows."""
    if isinstance(past, AtomicType) and isinstance(current, AtomicType):
        one, other = past.root, current.root
        return (one == "TIMESTAMP_LTZ" and other in _ZONED) or (other == "TIMESTAMP_LTZ" and one in _ZONED)
    if isinstance(past, ArrayType) and isinstance(current, ArrayType):
        return depends_on_zone(past.element, current.element)
    if isinstance(past, MapType) and isinstance(current, MapType):
        return depends_on_zone(past.value, current.value)
    if isinstance(past, RowType) and isinstance(current, RowType):
        pairs = ((past_field(past, one), one) for one in current.fields)
        return any(old is not None and depends_on_zone(old.type, one.type) for old, one in pairs)
    return isinstance(current, AtomicType) and has_root(past, ("TIMESTAMP_LTZ",))
