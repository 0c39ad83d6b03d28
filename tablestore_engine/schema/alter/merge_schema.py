"""The columns of incoming rows merged into those of a table, under `write.merge-schema`.

Columns match by name. A column that the table does not have is added; a type becomes the incoming one if the change
needs no option (see `is_implicit`), or, under `explicit-cast`, if values of the old type can be cast to it at all.
Otherwise the type stays, and the incoming values are cast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.casts.cast_old_columns import is_castable, is_implicit
from tablestore_engine.schema.table.schema_changes import AddColumn, RetypeColumn, SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import ANY_CASE, Names, Resolver
from tablestore_engine.schema.types.types import ArrayType, DataType, MapType, RowType, with_nulls

Column = tuple[str, DataType, "str | None"]
Path = tuple[str, ...]


@dataclass(frozen=True)
class Merging:
    """How columns are merged: whether types change by explicit casts, and which names are the same."""

    explicit: bool = False
    resolver: Resolver = ANY_CASE

    def known(self, name: str, own: Names, given: Names) -> str | None:
        """The own name that a given one means; None for a new one."""
        found = own.find(name)
        if found is None or given.find(found) != name or not self.resolver.is_same(name, found):
            return None
        return found


def merging_changes(schema: TableSchema, incoming: Sequence[Column], how: Merging) -> list[SchemaChange]:
    """The changes after which a table holds all columns of incoming rows; empty if it does already.

    Raises:
        SchemaError: two incoming columns of one name. Names that differ in case only are two (`Resolver.check_alike`).
    """
    changes: list[SchemaChange] = []
    fixed = {*schema.primary_keys, *schema.partition_keys, *schema.bucket_keys}
    given = Names(name for name, _, _ in incoming)
    if given.has_repeated:
        twice = next(name for at, name in enumerate(given) if given.position(name) != at)
        raise SchemaError(f"The rows have two columns named '{twice}'.", hint="Give one of them another name.")
    for name, kind, comment in incoming:
        known = how.known(name, schema.names, given)
        if known is None:
            changes.append(AddColumn((name,), with_nulls(kind), comment, by_case=True))
            continue
        field = schema.field(known)
        if field.name not in fixed:
            changes += _merged((field.name,), field.type, kind, how)
    return changes


def _merged(path: Path, kind: DataType, given: DataType, how: Merging) -> list[SchemaChange]:
    if isinstance(kind, RowType) and isinstance(given, RowType):
        return _fields(path, kind, given, how)
    if isinstance(kind, ArrayType) and isinstance(given, ArrayType):
        return _merged((*path, "element"), kind.element, given.element, how)
    if isinstance(kind, MapType) and isinstance(given, MapType):
        return _merged((*path, "value"), kind.value, given.value, how)
    before, after = kind.as_nullable(True), given.as_nullable(True)
    if before == after or not (before.is_atomic and after.is_atomic):
        return []
    allowed = is_implicit(before, after) or (how.explicit and is_castable(before, after))
    return [RetypeColumn(path, after)] if allowed else []


def _fields(path: Path, kind: RowType, given: RowType, how: Merging) -> list[SchemaChange]:
    own = {one.name: one for one in kind.fields}
    mine, others = Names(own), Names(one.name for one in given.fields)
    if [one.name for one in given.fields] == [f"col{i + 1}" for i in range(len(kind.fields))]:
        return []  # nobody named them: they are matched by position
    changes: list[SchemaChange] = []
    for one in given.fields:
        known = how.known(one.name, mine, others)
        if known is None:
            changes.append(AddColumn((*path, one.name), with_nulls(one.type), one.description, by_case=True))
        else:
            changes += _merged((*path, known), own[known].type, one.type, how)
    return changes
