"""The columns of incoming rows merged into those of a table, under `write.merge-schema`.

Columns match by name. A column that the table does not have is added; a type becomes the incoming one if the change
needs no option (see `is_implicit`), or, under `explicit-cast`, if values of the old type can be cast to it at all.
Otherwise the type stays, and the incoming values are cast.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.casts.old_file_casts import is_castable, is_implicit
from tablestore_engine.schema.table.schema_changes import AddColumn, RetypeColumn, SchemaChange
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.types import ArrayType, DataType, MapType, RowType

Column = tuple[str, DataType, "str | None"]
Path = tuple[str, ...]


def merging_changes(schema: TableSchema, incoming: Sequence[Column], *, explicit: bool = False) -> list[SchemaChange]:
    """The changes after which a table holds all columns of incoming rows; empty if it does already.

    Raises:
        SchemaError: two incoming columns of one name. Names that differ in case only are two (`check_alike`).
    """
    changes: list[SchemaChange] = []
    fixed = {*schema.primary_keys, *schema.partition_keys, *schema.bucket_keys}
    given = Names(name for name, _, _ in incoming)
    if given.has_repeated:
        twice = next(name for at, name in enumerate(given) if given.position(name) != at)
        raise SchemaError(f"The rows have two columns named '{twice}'.", hint="Give one of them another name.")
    for name, kind, comment in incoming:
        known = schema.names.find(name)
        if known is None or given.find(known) != name:
            changes.append(AddColumn((name,), _nullable(kind), comment, by_case=True))
            continue
        field = schema.field(known)
        if field.name not in fixed:
            changes += _merged((field.name,), field.type, kind, explicit)
    return changes


def _merged(path: Path, kind: DataType, given: DataType, explicit: bool) -> list[SchemaChange]:
    if isinstance(kind, RowType) and isinstance(given, RowType):
        return _fields(path, kind, given, explicit)
    if isinstance(kind, ArrayType) and isinstance(given, ArrayType):
        return _merged((*path, "element"), kind.element, given.element, explicit)
    if isinstance(kind, MapType) and isinstance(given, MapType):
        return _merged((*path, "value"), kind.value, given.value, explicit)
    before, after = kind.as_nullable(True), given.as_nullable(True)
    if before == after or not (before.is_atomic and after.is_atomic):
        return []
    allowed = is_implicit(before, after) or (explicit and is_castable(before, after))
    return [RetypeColumn(path, after)] if allowed else []


def _fields(path: Path, kind: RowType, given: RowType, explicit: bool) -> list[SchemaChange]:
    own = {one.name: one for one in kind.fields}
    mine, others = Names(own), Names(one.name for one in given.fields)
    if [one.name for one in given.fields] == [f"col{i + 1}" for i in range(len(kind.fields))]:
        return []  # nobody named them: they are matched by position
    changes: list[SchemaChange] = []
    for one in given.fields:
        known = mine.find(one.name)
        if known is None or others.find(known) != one.name:
            changes.append(AddColumn((*path, one.name), _nullable(one.type), one.description, by_case=True))
        else:
            changes += _merged((*path, known), own[known].type, one.type, explicit)
    return changes


def _nullable(kind: DataType) -> DataType:
    return kind.as_nullable(True)
