"""Columns that messages have and a table does not, with a type that takes all their values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from tablestore_engine.errors import SchemaError
from tablestore_engine.kafka.from_json.connect_schema import Declared
from tablestore_engine.schema.table.create_schema import check_names

_REFUSED = (pa.ArrowException, ValueError, TypeError, OverflowError)
_DEEPEST = 16
"""Lists and records inside of each other; Parquet's readers refuse files whose columns are nested some times deeper."""


def why_no_column(name: str) -> str | None:
    """Why no column can have a name; None if one can."""
    if not _is_unicode(name):
        return f"the name of a field, {name!r}, is no Unicode text"
    try:
        check_names([name])
    except SchemaError as error:
        return f"no column can be added for the field '{name}': {error.message.rstrip('.')}"
    return None


def having(
    refused: Mapping[str, str], texts: Sequence[bytes], rows_of: Callable[[Mapping[str, Any]], list[dict[str, Any]]]
) -> Iterator[tuple[int, str]]:
    """The positions of the texts in whose rows fields with one of these names have a value, and what is said of it.

    Names count in any case.
    """
    reasons = {name.lower(): why for name, why in refused.items()}
    for at, text in enumerate(texts):
        try:
            record = json.loads(text)
        except ValueError:
            continue
        if isinstance(record, dict):
            named = {name.lower() for row in rows_of(record) for name, value in row.items() if value is not None}
            why = next((why for name, why in reasons.items() if name in named), None)
            if why:
                yield at, why


class NewColumns:
    """The new columns among those that messages have; a null says nothing of a type. `names` are those of the table.

    What a schema declares has the type that it says, whatever the values are.
    """

    def __init__(self, names: Iterable[str], declared: Declared | None = None) -> None:
        self._known = {one.lower() for one in names}
        self._found: dict[str, tuple[str, pa.DataType]] = {}
        types = {} if declared is None else {name: declared.fields[name.lower()].type for name in declared.names}
        for name, kind in types.items():
            if kind is not None and why_no_column(name) is None:
                self._see(name, kind)
        self._known |= {*self._found}

    def see_columns(self, columns: pa.StructType) -> None:
        """Take note of rows that were parsed together."""
        for one in columns:
            # A text that the parser took for a time is text in JSON, and others of the column may be no times.
            self._see(one.name, pa.string() if pa.types.is_temporal(one.type) else one.type)

    def see_row(self, row: Mapping[str, Any]) -> None:
        """Take note of a row that Python's parser has read."""
        for name, value in row.items():
            if name.lower() not in self._known:
                self._see(name, _type_of(value))

    def see_types(self, types: Mapping[str, pa.DataType]) -> None:
        """Take note of what others have seen."""
        for name, kind in types.items():
            self._see(name, kind)

    @property
    def types(self) -> dict[str, pa.DataType]:
        """The columns and their types; of several spellings of a name the first one."""
        return {name: kind if _is_possible(kind) else pa.string() for name, kind in self._found.values()}

    def _see(self, name: str, kind: pa.DataType) -> None:
        if name.lower() in self._known or pa.types.is_null(kind):
            return
        first, before = self._found.get(name.lower(), (name, kind))
        self._found[name.lower()] = first, _common(before, kind)


def _type_of(value: Any) -> pa.DataType:
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return pa.float64()  # as Arrow's parser reads it
    try:
        return pa.array([value]).type
    except _REFUSED:
        return pa.string()


def _is_possible(kind: pa.DataType) -> bool:
    """Whether a column can have a type."""
    too_long = pa.types.is_decimal(kind) and not pa.types.is_decimal128(kind)
    return not too_long and not _is_open(kind) and _depth(kind) <= _DEEPEST and _has_names(kind)


def _inner(kind: pa.DataType) -> list[pa.Field]:
    return [kind.field(at) for at in range(kind.num_fields)]


def _depth(kind: pa.DataType) -> int:
    return max((1 + _depth(one.type) for one in _inner(kind)), default=0)


def _has_names(kind: pa.DataType) -> bool:
    """Whether all records inside have fields with different names that are none of spaces."""
    names = [one.name.strip().lower() for one in _inner(kind)]
    different = len(set(names)) == len(names) and all(names) and all(map(_is_unicode, names))
    return different and all(_has_names(one.type) for one in _inner(kind))


def _is_unicode(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_open(kind: pa.DataType) -> bool:
    """Whether no value says what lists or records of a type hold."""
    if pa.types.is_list(kind):
        return _is_open(kind.value_type)
    if pa.types.is_struct(kind):
        return not kind.num_fields or any(_is_open(one.type) for one in kind)
    return bool(pa.types.is_null(kind))


def _common(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """A type for the values of two types: text where there is no other."""
    if pa.types.is_binary(one) != pa.types.is_binary(other):
        return pa.string()
    schemas = [pa.schema([("value", kind)]) for kind in (one, other)]
    try:
        return one if one == other else pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except _REFUSED:
        return pa.string()
