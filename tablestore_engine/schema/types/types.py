"""The data types of a table, and their text and JSON forms.

Vocabulary: an *atomic* type is one value in one column (``BIGINT``, ``DECIMAL(10, 2)``); ARRAY, MAP and ROW are
built of others. Text form: ``VARCHAR(20) NOT NULL``. JSON form: the text for an atomic type, an object for the rest.

Invariants: types are frozen and comparable; ``parse_type(t.to_json()) == t``; the JSON form is the persisted one
and must never change. Every field of a ROW has an id, and all ids of a table share one number space.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, TypeVar

from typing_extensions import Self

from tablestore_engine.errors import SchemaError, UnsupportedTypeError

T = TypeVar("T", bound="DataType")

MAX_LENGTH = 2**31 - 1
MAX_TIMESTAMP_PRECISION = 6
"""Fractional digits of a timestamp that is written: Spark's and Python's microseconds."""

MAX_TIME_PRECISION = 3
"""Fractional digits of a time of day: the format stores milliseconds."""

STRING_ROOTS = ("CHAR", "VARCHAR", "STRING")
MOST_DIGITS = 38
"""Of a decimal. Spark rounds numbers whose common type would have more before it compares them."""
BINARY_ROOTS = ("BINARY", "VARBINARY", "BYTES")
INTEGER_ROOTS = ("TINYINT", "SMALLINT", "INT", "BIGINT")
INTEGER_DIGITS: Final = dict(zip(INTEGER_ROOTS, (3, 5, 10, 19), strict=True))
"""Of the greatest value of each integer type."""
DECIMAL_DIGITS: Final = {**INTEGER_DIGITS, "BIGINT": 20}
"""Of the decimal that Spark takes for each integer type."""
TIMESTAMP_ROOTS = ("TIMESTAMP", "TIMESTAMP_LTZ")

_PLAIN = {*INTEGER_ROOTS, "BOOLEAN", "FLOAT", "DOUBLE", "DATE", "STRING", "BYTES", "VARIANT"}
_ALIASES = {"INTEGER": "INT", "NUMERIC": "DECIMAL", "DEC": "DECIMAL", "DOUBLE PRECISION": "DOUBLE"}
_DEFAULT_PRECISION = {"DECIMAL": 10, "TIMESTAMP": 6, "TIMESTAMP_LTZ": 6, "TIME": 0, "CHAR": 1, "VARCHAR": 1,
                      "BINARY": 1, "VARBINARY": 1}  # fmt: skip
_AVRO_NAME = re.compile(r"[^\W\d]\w*")
_TEXT = re.compile(
    r"(?P<root>[A-Z][A-Z_ ]*?)\s*(?:\(\s*(?P<precision>\d+)\s*(?:,\s*(?P<scale>\d+)\s*)?\))?"
    r"(?P<zone>\s+WITH\s+LOCAL\s+TIME\s+ZONE|\s+WITHOUT\s+TIME\s+ZONE)?(?P<null>\s+NOT\s+NULL|\s+NULL)?"
)


class DataType:
    """A data type. ``nullable`` says whether a value may be null."""

    nullable: bool

    def as_nullable(self, nullable: bool) -> Self:
        """The same type with the given nullability."""
        return self if self.nullable == nullable else replace(self, nullable=nullable)  # type: ignore[type-var]

    @property
    def is_atomic(self) -> bool:
        """Whether values can be compared: not those of an ARRAY, MAP, ROW or VARIANT."""
        return isinstance(self, AtomicType) and self.root != "VARIANT"

    def to_json(self) -> Any:
        """The persisted form: a text, or an object for ARRAY, MAP and ROW."""
        raise NotImplementedError


def _suffix(nullable: bool) -> str:
    return "" if nullable else " NOT NULL"


@dataclass(frozen=True)
class AtomicType(DataType):
    """One value in one column. ``precision`` is digits, fractional digits or length, depending on the root."""

    root: str
    nullable: bool = True
    precision: int | None = None
    scale: int | None = None

    def __post_init__(self) -> None:
        if self.root not in _PLAIN and self.root not in _DEFAULT_PRECISION:
            raise UnsupportedTypeError(f"The type {self.root} cannot be held by a table.")
        if self.root in _DEFAULT_PRECISION and self.precision is None:
            object.__setattr__(self, "precision", _DEFAULT_PRECISION[self.root])
        if self.root == "DECIMAL" and self.scale is None:
            object.__setattr__(self, "scale", 0)
        self._check()

    def _check(self) -> None:
        limits = {"DECIMAL": (1, MOST_DIGITS), "TIMESTAMP": (0, 9), "TIMESTAMP_LTZ": (0, 9), "TIME": (0, 9)}
        low, high = limits.get(self.root, (1, MAX_LENGTH))
        if self.precision is not None and not low <= self.precision <= high:
            raise UnsupportedTypeError(f"The precision of {self.root} must be {low} to {high}, not {self.precision}.")
        if self.scale is not None and not 0 <= self.scale <= (self.precision or 0):
            raise UnsupportedTypeError(f"The scale of {self.root} must be 0 to {self.precision}, not {self.scale}.")

    def __str__(self) -> str:
        if self.root in _PLAIN:
            return self.root + _suffix(self.nullable)
        if self.root == "DECIMAL":
            return f"DECIMAL({self.precision}, {self.scale}){_suffix(self.nullable)}"
        if self.root == "TIMESTAMP_LTZ":
            return f"TIMESTAMP({self.precision}) WITH LOCAL TIME ZONE{_suffix(self.nullable)}"
        return f"{self.root}({self.precision}){_suffix(self.nullable)}"

    def to_json(self) -> str:
        """The text of the type."""
        return str(self)


@dataclass(frozen=True)
class ArrayType(DataType):
    """A list of values of one type."""

    element: DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>{_suffix(self.nullable)}"

    def to_json(self) -> dict[str, Any]:
        """``{"type": "ARRAY", "element": …}``."""
        return {"type": "ARRAY" + _suffix(self.nullable), "element": self.element.to_json()}


@dataclass(frozen=True)
class MapType(DataType):
    """Values of one type by keys of another."""

    key: DataType
    value: DataType
    nullable: bool = True

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>{_suffix(self.nullable)}"

    def to_json(self) -> dict[str, Any]:
        """``{"type": "MAP", "key": …, "value": …}``."""
        return {
            "type": "MAP" + _suffix(self.nullable),
            "key": self.key.to_json(),
            "value": self.value.to_json(),
        }


NULL_DEFAULT: Final = "\0"
"""The default value of a column that is declared as DEFAULT NULL. Other writers would take any text for a value."""


@dataclass(frozen=True)
class DataField:
    """A named and numbered column, or field of a ROW. The id stays when the name changes."""

    id: int
    name: str
    type: DataType
    description: str | None = None
    default_value: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The persisted form."""
        data: dict[str, Any] = {"id": self.id, "name": self.name, "type": self.type.to_json()}
        if self.description is not None:
            data["description"] = self.description
        if self.default_value == NULL_DEFAULT:
            data["defaultNull"] = True
        elif self.default_value is not None:
            data["defaultValue"] = self.default_value
        return data


@dataclass(frozen=True)
class RowType(DataType):
    """A record of named fields."""

    fields: tuple[DataField, ...]
    nullable: bool = True

    def __str__(self) -> str:
        # The text form of the format, which doubles no backquote; SQL is written by `sql_literals`.
        return f"ROW<{', '.join(f'`{field.name}` {field.type}' for field in self.fields)}>{_suffix(self.nullable)}"

    def to_json(self) -> dict[str, Any]:
        """``{"type": "ROW", "fields": [{"id": …, "name": …, "type": …}, …]}``."""
        return {"type": "ROW" + _suffix(self.nullable), "fields": [field.to_json() for field in self.fields]}


def parse_type(data: str | Mapping[str, Any]) -> DataType:
    """The type of a persisted text or object.

    Raises:
        UnsupportedTypeError: the type is not one that this engine can hold (MULTISET, BLOB, …).
    """
    if isinstance(data, str):
        return _parse_atomic(data)
    text = data["type"]
    root = text.split()[0].upper()
    nullable = not text.upper().rstrip().endswith("NOT NULL") and data.get("nullable") is not False
    if root == "ARRAY":
        return ArrayType(parse_type(data["element"]), nullable)
    if root == "MAP":
        return MapType(parse_type(data["key"]), parse_type(data["value"]), nullable)
    if root == "ROW":
        return RowType(tuple(parse_field(one) for one in data["fields"]), nullable)
    raise UnsupportedTypeError(f"The type {text} cannot be held by a table of this engine.")


def parse_field(data: Mapping[str, Any]) -> DataField:
    """The field of a persisted object ``{id, name, type, description, defaultValue}``."""
    return DataField(
        int(data["id"]),
        data["name"],
        parse_type(data["type"]),
        data.get("description"),
        NULL_DEFAULT if data.get("defaultNull") else data.get("defaultValue"),
    )


@lru_cache(maxsize=4096)
def _parse_atomic(text: str) -> AtomicType:
    match = _TEXT.fullmatch(text.strip().upper())
    if not match:
        raise UnsupportedTypeError(f"The type '{text}' cannot be understood.")
    root = " ".join(match["root"].split())
    root = _ALIASES.get(root, root)
    zone = match["zone"] or ""
    if root == "TIMESTAMP" and "LOCAL" in zone:
        root = "TIMESTAMP_LTZ"
    precision = int(match["precision"]) if match["precision"] else None
    scale = int(match["scale"]) if match["scale"] else None
    if root in ("VARCHAR", "VARBINARY") and precision == MAX_LENGTH:
        root, precision = {"VARCHAR": "STRING", "VARBINARY": "BYTES"}[root], None
    if root in _PLAIN and precision is not None:
        raise UnsupportedTypeError(f"The type '{text}' cannot be understood.")
    return AtomicType(root, "NOT" not in (match["null"] or ""), precision, scale)


def assign_field_ids(data_type: DataType, next_id: Callable[[], int]) -> DataType:
    """The type with fresh ids in all of its ROW fields: the fields inside a field are numbered before it."""
    if isinstance(data_type, ArrayType):
        return replace(data_type, element=assign_field_ids(data_type.element, next_id))
    if isinstance(data_type, MapType):
        key = assign_field_ids(data_type.key, next_id)
        return replace(data_type, key=key, value=assign_field_ids(data_type.value, next_id))
    if isinstance(data_type, RowType):
        fields = []
        for one in data_type.fields:
            inner = assign_field_ids(one.type, next_id)
            fields.append(replace(one, id=next_id(), type=inner))
        return replace(data_type, fields=tuple(fields))
    return data_type


def types_in(data_type: DataType, column: str = "") -> Iterator[tuple[str, DataType]]:
    """A type and all types inside of it, outer ones first, each with the path of its field: `column`, `column.a`."""
    yield column, data_type
    if isinstance(data_type, ArrayType):
        yield from types_in(data_type.element, column)
    elif isinstance(data_type, MapType):
        yield from types_in(data_type.key, column)
        yield from types_in(data_type.value, column)
    elif isinstance(data_type, RowType):
        for one in data_type.fields:
            yield from types_in(one.type, f"{column}.{one.name}")


def inner_pairs(one: DataType, other: DataType) -> list[tuple[str, DataType, DataType]]:
    """The types inside of two arrays, or of two maps, each with the last part of its path; none for other types."""
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return [("element", one.element, other.element)]
    if isinstance(one, MapType) and isinstance(other, MapType):
        return [("key", one.key, other.key), ("value", one.value, other.value)]
    return []


def has_root(data_type: DataType, roots: Collection[str]) -> bool:
    """Whether a type, or one inside of it, is one of some atomic types."""
    return any(isinstance(one, AtomicType) and one.root in roots for _, one in types_in(data_type))


def has_map(data_type: DataType) -> bool:
    """Whether a type is a map, or one is inside of it."""
    return any(isinstance(one, MapType) for _, one in types_in(data_type))


def nested_fields(data_type: DataType) -> list[DataField]:
    """All ROW fields inside of a type."""
    return [field for _, one in types_in(data_type) if isinstance(one, RowType) for field in one.fields]


def refuse_variants(column: str, data_type: DataType, file_format: str) -> None:
    """Raise an UnsupportedTypeError for variants in files of another format than Parquet, which have no layout for
    them."""
    if file_format != "parquet" and has_root(data_type, ("VARIANT",)):
        raise UnsupportedTypeError(
            f"Column '{column}' holds variants, which files of the format {file_format} cannot.",
            hint="Set 'file.format' = 'parquet'.",
        )


def check_avro_name(name: str) -> None:
    """Raise a SchemaError for the name of a column or field that Avro cannot have."""
    if not _AVRO_NAME.fullmatch(name):
        raise SchemaError(
            f"Avro files cannot have a column called '{name}': names are letters, digits and underscores there.",
            hint="Rename the column, or set 'file.format' = 'parquet'.",
        )


def check_format(column: str, data_type: DataType, file_format: str) -> None:
    """Raise an error for a column that files of a format cannot hold.

    Raises:
        UnsupportedTypeError: its type. SchemaError: its name, or that of a field.
    """
    refuse_variants(column, data_type, file_format)
    if file_format == "avro":
        for name in (column, *(one.name for one in nested_fields(data_type))):
            check_avro_name(name)


def refuse_equal_fields(column: str, data_type: DataType) -> None:
    """Raise a SchemaError for a ROW with two fields of one name: other readers of the format cannot open its table."""
    for path, row in types_in(data_type, column):
        names = [one.name for one in row.fields] if isinstance(row, RowType) else []
        twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
        if twice is not None:
            raise SchemaError(f"Column '{path}' has two fields named '{twice}'.", hint="Give one another name.")


def refuse_nanoseconds(column: str, data_type: DataType) -> None:
    """Raise an UnsupportedTypeError for timestamps beyond microseconds: they can be read here, but not written."""
    for _, one in types_in(data_type):
        if not isinstance(one, AtomicType) or one.root not in TIMESTAMP_ROOTS:
            continue
        if (one.precision or 0) > MAX_TIMESTAMP_PRECISION:
            raise UnsupportedTypeError(
                f"Column '{column}' has type {one}, but rows are written with microseconds.",
                hint=f"Use a precision of {MAX_TIMESTAMP_PRECISION}.",
            )


def with_nulls(data_type: DataType) -> DataType:
    """The type with nulls everywhere but in the keys of maps."""
    if isinstance(data_type, ArrayType):
        data_type = replace(data_type, element=with_nulls(data_type.element))
    elif isinstance(data_type, MapType):
        data_type = replace(data_type, value=with_nulls(data_type.value))
    elif isinstance(data_type, RowType):
        data_type = replace(data_type, fields=tuple(replace(f, type=with_nulls(f.type)) for f in data_type.fields))
    return data_type.as_nullable(True)
