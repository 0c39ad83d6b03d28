"""Names of columns and fields that differ in case only, of which a session may distinguish none."""

from __future__ import annotations

from collections.abc import Iterable

from tablestore_engine.schema.types.names import Names, Resolver
from tablestore_engine.schema.types.types import ArrayType, DataType, MapType, RowType


def alike_names(columns: Iterable[tuple[str, DataType]]) -> tuple[str, ...]:
    """The paths of the first columns, or fields of one struct at any depth, whose names differ in case only; none in
    most tables."""
    return _alike(list(columns), "")


def check_alike_fields(columns: Iterable[tuple[str, DataType]], resolver: Resolver) -> None:
    """`Resolver.check_alike` of new columns, and of the fields of structs in their types: Spark could not read them."""
    given = list(columns)
    resolver.check_alike([name for name, _ in given])
    resolver.refuse_alike(alike_names(given), "fields")


def _alike(columns: list[tuple[str, DataType]], parent: str) -> tuple[str, ...]:
    own = tuple(f"{parent}{name}" for name in Names(name for name, _ in columns).alike)
    if own:
        return own
    return next((found for name, kind in columns if (found := _inside(kind, f"{parent}{name}."))), ())


def _inside(kind: DataType, parent: str) -> tuple[str, ...]:
    if isinstance(kind, RowType):
        return _alike([(field.name, field.type) for field in kind.fields], parent)
    if isinstance(kind, ArrayType):
        return _inside(kind.element, f"{parent}element.")
    if isinstance(kind, MapType):
        return _inside(kind.key, f"{parent}key.") or _inside(kind.value, f"{parent}value.")
    return ()
