"""The columns of a table and the fields inside of them, by the names that a project may call them.

A field of a struct is `s.x`. One of the structs in an array is `a.element.x`, or `a.x` for short; in the values of a
map, `m.value.x`, or `m.x`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tablestore_engine.schema.types.types import ArrayType, DataField, DataType, MapType, RowType


@dataclass(frozen=True)
class ColumnPath:
    """A column or field: its path, its comment, and its names, the full one first."""

    path: tuple[str, ...]
    comment: str | None
    shown: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names in lower case."""
        return tuple(one.lower() for one in self.shown)


def column_paths(fields: Sequence[DataField]) -> list[ColumnPath]:
    """All columns and fields, each column before its fields."""
    return [one for field in fields for one in _of_field(field, (), ())]


def _of_field(field: DataField, path: tuple[str, ...], short: tuple[str, ...]) -> Iterator[ColumnPath]:
    here, brief = (*path, field.name), (*short, field.name)
    yield ColumnPath(here, field.description, tuple(dict.fromkeys((".".join(here), ".".join(brief)))))
    yield from _inside(field.type, here, brief)


def _inside(kind: DataType, path: tuple[str, ...], short: tuple[str, ...]) -> Iterator[ColumnPath]:
    if isinstance(kind, ArrayType):
        yield from _inside(kind.element, (*path, "element"), short)
    elif isinstance(kind, MapType):
        yield from _inside(kind.value, (*path, "value"), short)
    elif isinstance(kind, RowType):
        for field in kind.fields:
            yield from _of_field(field, path, short)
