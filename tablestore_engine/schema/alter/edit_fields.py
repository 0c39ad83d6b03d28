"""Columns, and the fields inside of them, by path: found and edited.

An *edit* is a function from the siblings of a field and its position to the siblings afterwards. It is applied at the
end of a path; everything around it is built anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tablestore_engine.errors import ColumnNotFound, SchemaError, did_you_mean
from tablestore_engine.schema.table.schema_changes import ColumnPath
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.types import ArrayType, DataField, DataType, MapType, RowType

Fields = tuple[DataField, ...]
Path = tuple[str, ...]
Edit = Callable[[Fields, int], Fields]
Retype = Callable[[DataType], DataType]

ELEMENT, KEY, VALUE = "element", "key", "value"


def shown(path: ColumnPath) -> str:
    """A path as messages say it."""
    return path if isinstance(path, str) else ".".join(path)


def position(fields: Sequence[DataField], name: str) -> int | None:
    """The position of the field of that name."""
    return Names(one.name for one in fields).position(name)


def find_path(fields: Sequence[DataField], name: ColumnPath) -> Path | None:
    """The path of a column, field, element, key or value, with the names as they are stored; None if there is none."""
    paths = ((name,), tuple(name.split("."))) if isinstance(name, str) else (name,)
    return next((found for path in paths if (found := _stored(fields, path)) is not None), None)


def require_path(fields: Sequence[DataField], name: ColumnPath) -> Path:
    """`find_path`. Raises ColumnNotFound, which names the nearest sibling."""
    found = find_path(fields, name)
    if found is None:
        raise no_path(fields, name)
    return found


def no_path(fields: Sequence[DataField], name: ColumnPath) -> ColumnNotFound:
    """The error for a path that is not there, or not in this spelling."""
    other = find_path(fields, name)
    siblings, wanted = _nearest_siblings(fields, name) if other is None else ([shown(other)], shown(name))
    return ColumnNotFound(f"Column '{shown(name)}' does not exist.", hint=did_you_mean(wanted, siblings))


def siblings_of(fields: Sequence[DataField], path: Path) -> Fields:
    """The fields next to the last name of an existing path; none for an element, a key or a value."""
    if len(path) == 1:
        return tuple(fields)
    parent = type_at(fields, path[:-1])
    return parent.fields if isinstance(parent, RowType) else ()


def type_at(fields: Sequence[DataField], path: Path) -> DataType:
    """The type at an existing path."""
    at = position(fields, path[0])
    assert at is not None
    data_type = fields[at].type
    for step in path[1:]:
        inner = _inside(data_type, step)
        assert inner is not None
        data_type = inner[1]
    return data_type


def edited(fields: Sequence[DataField], path: Path, edit: Edit) -> Fields:
    """The fields after an edit at an existing path. Raises ColumnNotFound if it ends at an element, key or value."""
    at = position(fields, path[0])
    assert at is not None
    if len(path) == 1:
        return edit(tuple(fields), at)
    inner = _edited_type(fields[at].type, path[1:], edit, shown(path))
    return (*fields[:at], replace(fields[at], type=inner), *fields[at + 1 :])


def commented(fields: Sequence[DataField], path: Path, comment: str | None) -> Fields:
    """The fields with another comment at an existing path. Raises ColumnNotFound like `edited`."""

    def edit(siblings: Fields, at: int) -> Fields:
        return (*siblings[:at], replace(siblings[at], description=comment), *siblings[at + 1 :])

    return edited(fields, path, edit)


def retyped(fields: Sequence[DataField], path: Path, change: Retype) -> Fields:
    """The fields with another type at an existing path."""
    at = position(fields, path[0])
    assert at is not None
    data_type = _retyped(fields[at].type, path[1:], change)
    return (*fields[:at], replace(fields[at], type=data_type), *fields[at + 1 :])


def added(fields: Sequence[DataField], parent: Path, insert: Callable[[Fields], Fields]) -> Fields:
    """The fields after an insertion into the struct at an existing path, or among the columns. Raises SchemaError."""
    if not parent:
        return insert(tuple(fields))

    def into(data_type: DataType) -> DataType:
        if not isinstance(data_type, RowType):
            raise SchemaError(
                f"Column '{shown(parent)}' has type {data_type.as_nullable(True)}, which has no fields of its own.",
                hint=_hint_for_fields(parent, data_type),
            )
        return replace(data_type, fields=insert(data_type.fields))

    return retyped(fields, parent, into)


def _hint_for_fields(parent: Path, data_type: DataType) -> str | None:
    if isinstance(data_type, ArrayType):
        return f"The elements of an array are '{shown(parent)}.{ELEMENT}'."
    if isinstance(data_type, MapType):
        return f"The parts of a map are '{shown(parent)}.{KEY}' and '{shown(parent)}.{VALUE}'."
    return None


# -- steps ---------------------------------------------------------------------------------------------


def _stored(fields: Sequence[DataField], path: Path) -> Path | None:
    at = position(fields, path[0]) if path else None
    if at is None:
        return None
    names, data_type = [fields[at].name], fields[at].type
    for step in path[1:]:
        inner = _inside(data_type, step)
        if inner is None:
            return None
        name, data_type = inner
        names.append(name)
    return tuple(names)


def _inside(data_type: DataType, step: str) -> tuple[str, DataType] | None:
    """The stored name and the type of one step into a type."""
    if isinstance(data_type, RowType):
        at = position(data_type.fields, step)
        return None if at is None else (data_type.fields[at].name, data_type.fields[at].type)
    lowered = step.lower()
    if isinstance(data_type, ArrayType) and lowered == ELEMENT:
        return ELEMENT, data_type.element
    if isinstance(data_type, MapType) and lowered in (KEY, VALUE):
        return lowered, data_type.key if lowered == KEY else data_type.value
    return None


def _nearest_siblings(fields: Sequence[DataField], name: ColumnPath) -> tuple[list[str], str]:
    """The names that were possible where a path leaves the schema, and the name that was given there."""
    path = (*name.split("."),) if isinstance(name, str) else name
    for known in range(len(path) - 1, 0, -1):
        stored = _stored(fields, path[:known])
        if stored is not None:
            parent = type_at(fields, stored)
            return [one.name for one in parent.fields] if isinstance(parent, RowType) else [], path[known]
    return [one.name for one in fields], shown(name)


def _edited_type(data_type: DataType, path: Path, edit: Edit, what: str) -> DataType:
    if isinstance(data_type, RowType):
        at = position(data_type.fields, path[0])
        assert at is not None
        if len(path) == 1:
            return replace(data_type, fields=edit(data_type.fields, at))
    elif len(path) == 1:
        raise ColumnNotFound(
            f"'{what}' is the {path[0]} of an array or map, which is no field.",
            hint="Only its type and whether it may be null can be changed.",
        )
    return _step(data_type, path[0], lambda inner: _edited_type(inner, path[1:], edit, what))


def _retyped(data_type: DataType, path: Path, change: Retype) -> DataType:
    if not path:
        return change(data_type)
    return _step(data_type, path[0], lambda inner: _retyped(inner, path[1:], change))


def _step(data_type: DataType, step: str, change: Retype) -> DataType:
    """The type with a change of what one step leads to."""
    if isinstance(data_type, RowType):
        at = position(data_type.fields, step)
        assert at is not None
        field = replace(data_type.fields[at], type=change(data_type.fields[at].type))
        return replace(data_type, fields=(*data_type.fields[:at], field, *data_type.fields[at + 1 :]))
    if isinstance(data_type, ArrayType):
        return replace(data_type, element=change(data_type.element))
    assert isinstance(data_type, MapType)
    if step == KEY:
        return replace(data_type, key=change(data_type.key))
    return replace(data_type, value=change(data_type.value))
