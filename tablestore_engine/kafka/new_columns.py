"""Columns that messages have and a table does not, with a type that takes all their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

_REFUSED = (pa.ArrowException, ValueError, TypeError, OverflowError)


class NewColumns:
    """The new columns among those that messages have; a null says nothing of a type. `names` are those of the table."""

    def __init__(self, names: Iterable[str]) -> None:
        self._known = {one.lower() for one in names}
        self._found: dict[str, tuple[str, pa.DataType]] = {}

    def see_columns(self, columns: pa.StructType) -> None:
        """Take note of rows that were parsed together."""
        for one in columns:
            self._see(one.name, one.type)

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
        return {name: pa.string() if _is_open(kind) else kind for name, kind in self._found.values()}

    def _see(self, name: str, kind: pa.DataType) -> None:
        if name.lower() in self._known or pa.types.is_null(kind):
            return
        # A text that the parser took for a time is text in JSON, and others of the column may be no times.
        kind = pa.string() if pa.types.is_temporal(kind) else kind
        first, before = self._found.get(name.lower(), (name, kind))
        self._found[name.lower()] = first, _common(before, kind)


def _type_of(value: Any) -> pa.DataType:
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return pa.float64()  # as Arrow's parser reads it
    try:
        return pa.array([value]).type
    except _REFUSED:
        return pa.string()


def _is_open(kind: pa.DataType) -> bool:
    """Whether no value says what lists or records of a type hold."""
    if pa.types.is_list(kind):
        return _is_open(kind.value_type)
    if pa.types.is_struct(kind):
        return not kind.num_fields or any(_is_open(one.type) for one in kind)
    return bool(pa.types.is_null(kind))


def _common(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """A type for the values of two types: text where there is no other."""
    schemas = [pa.schema([("value", kind)]) for kind in (one, other)]
    try:
        return one if one == other else pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except _REFUSED:
        return pa.string()
