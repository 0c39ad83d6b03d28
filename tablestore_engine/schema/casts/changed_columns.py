"""Which columns that were read by the names of an older schema have other values today, though no row was written.

Who read rows with the columns of then, and goes on with what changed since, never sees such values: a change of a
schema is no change of a row. Columns that came, went or got another name are not among them: their names show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tablestore_engine.schema.casts.cast_old_columns import is_lossless
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType


def changed_column(past: Sequence[DataField], now: Sequence[DataField], within: str = "") -> str:
    """The change of the first such column, or field of one, in words; empty when there is none.

    `within`: of fields, the path of the column that has them, with a dot.
    """
    by_name = {one.name.lower(): one for one in now} | {one.name: one for one in now}
    names = {one.id: one.name for one in past}
    for one in past:
        path = f"{within}{one.name}"
        other = by_name.get(one.name) or by_name.get(one.name.lower())
        if other is None:
            continue
        if other.id != one.id:
            former = names.get(other.id)
            new = "another one, which was added under its name" if former is None else f"what was '{within}{former}'"
            return f"its column '{path}' was dropped or renamed, and is {new}"
        found = _changed_type(path, one.type, other.type)
        if found:
            return found
    return ""


Path = tuple[str, ...]


def renamed_columns(past: Sequence[DataField], now: Sequence[DataField]) -> list[tuple[Path, Path]]:
    """The paths of columns and fields that have another name today, before and after."""
    return list(_renamed(past, now, (), ()))


def _renamed(
    past: Sequence[DataField], now: Sequence[DataField], within: Path, into: Path
) -> Iterator[tuple[Path, Path]]:
    by_id = {one.id: one for one in now}
    for one in past:
        other = by_id.get(one.id)
        if other is not None:
            old, new = (*within, one.name), (*into, other.name)
            if one.name.lower() != other.name.lower():
                yield old, new
            yield from _renamed_inside(one.type, other.type, old, new)


def _renamed_inside(past: DataType, now: DataType, old: Path, new: Path) -> Iterator[tuple[Path, Path]]:
    if isinstance(past, RowType) and isinstance(now, RowType):
        yield from _renamed(past.fields, now.fields, old, new)
    elif isinstance(past, ArrayType) and isinstance(now, ArrayType):
        yield from _renamed_inside(past.element, now.element, (*old, "element"), (*new, "element"))
    elif isinstance(past, MapType) and isinstance(now, MapType):
        yield from _renamed_inside(past.value, now.value, (*old, "value"), (*new, "value"))


def _changed_type(path: str, past: DataType, now: DataType) -> str:
    """The same of a type, of which other values are read unless each is the same as the new one."""
    if isinstance(past, RowType) and isinstance(now, RowType):
        return changed_column(past.fields, now.fields, f"{path}.")
    if isinstance(past, ArrayType) and isinstance(now, ArrayType):
        return _changed_type(f"{path}.element", past.element, now.element)
    if isinstance(past, MapType) and isinstance(now, MapType):
        return _changed_type(f"{path}.key", past.key, now.key) or _changed_type(f"{path}.value", past.value, now.value)
    if isinstance(past, AtomicType) and isinstance(now, AtomicType) and is_lossless(past, now):
        return ""
    then, today = past.as_nullable(True), now.as_nullable(True)
    return f"its column '{path}' is {today}, which does not keep every value of {then}, as it was"
