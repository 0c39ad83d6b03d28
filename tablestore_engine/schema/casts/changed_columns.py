"""Which columns that were read by the names of an older schema have other values today, though no row was written.

Who read rows with the columns of then, and goes on with what changed since, never sees such values: a change of a
schema is no change of a row. Columns that came, went or got another name are not among them: their names show it.

A value is another one, too, where its text or a result that is computed from it is: as an INT that became a DOUBLE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise

from tablestore_engine.schema.casts.cast_old_columns import is_lossless, is_same
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    STRING_ROOTS,
    AtomicType,
    DataField,
    DataType,
    RowType,
    inner_pairs,
    nested_fields,
)

Fields = Sequence[DataField]


@dataclass(frozen=True)
class ChangedColumn:
    """A column that may have other values now: its name, and why, in words.

    `past` is the column that was read. `added`: the new one that has its name now. `types`: those that it got, in
    each of which a value that fits is the same one. Without both, nothing is known of the values.
    """

    name: str
    why: str
    past: DataField
    added: DataField | None = None
    types: tuple[AtomicType, ...] = ()


def changed_columns(steps: Sequence[Fields]) -> Iterator[ChangedColumn]:
    """The columns of which a value, or a field, may be another one.

    `steps`: the columns of all schemas from the one that was read to that of now. Where a type was another one in
    between, a compaction may have stored the values of then.
    """
    past, now = steps[0], steps[-1]
    yield from replaced_columns(past, now)
    kept = field_ids(past) & field_ids(now)
    names, read = {one.id: one.name for one in now}, {one.id: one for one in past}
    found: dict[int, list[tuple[str, AtomicType | None]]] = {}
    for one, other in pairwise(steps):
        for number, why, kind in _retyped(one, other, kept):
            found.setdefault(number, []).append((why, kind))
    for number, ways in found.items():
        if number in read:
            types = tuple(kind for _, kind in ways if kind is not None)
            known = types if len(types) == len(ways) else ()
            why, _ = ways[-1] if known else ways[0]
            yield ChangedColumn(names[number], why, read[number], types=known)


def replaced_columns(past: Fields, now: Fields, but: AbstractSet[int] = frozenset()) -> Iterator[ChangedColumn]:
    """The columns whose name, or the name of a field of theirs, another one has now. `but`: ids that do not count."""
    by_name = {one.name.lower(): one for one in now} | {one.name: one for one in now}
    known = {one.id for one in past}
    for one in past:
        why = _replaced([one], now, but, "", past)
        if why:
            other = by_name.get(one.name) or by_name[one.name.lower()]
            added = other if other.id not in known else None
            yield ChangedColumn(other.name, why, one, added)


def _replaced(past: Fields, now: Fields, but: AbstractSet[int], within: str, among: Fields) -> str:
    """The first column or field whose name another one has now, in words; empty when there is none.

    `within`: of fields, the path of the column that has them, with a dot. `among`: all those of before.
    """
    by_name = {one.name.lower(): one for one in now} | {one.name: one for one in now}
    names = {one.id: one.name for one in among}
    for one in past:
        path = f"{within}{one.name}"
        other = by_name.get(one.name) or by_name.get(one.name.lower())
        if other is None:
            continue
        if other.id == one.id:
            found = _replaced_inside(one.type, other.type, but, path)
            if found:
                return found
        elif one.id not in but:
            former = names.get(other.id)
            new = "another one, which was added under its name" if former is None else f"what was '{within}{former}'"
            return f"its column '{path}' was dropped or renamed, and is {new}"
    return ""


def _replaced_inside(past: DataType, now: DataType, but: AbstractSet[int], path: str) -> str:
    if isinstance(past, RowType) and isinstance(now, RowType):
        return _replaced(past.fields, now.fields, but, f"{path}.", past.fields)
    found = (_replaced_inside(one, other, but, f"{path}.{part}") for part, one, other in inner_pairs(past, now))
    return next(filter(None, found), "")


def field_ids(fields: Fields) -> AbstractSet[int]:
    """The ids of columns, and of all fields in them."""
    return frozenset(one.id for column in fields for one in (column, *nested_fields(column.type)))


def _retyped(
    past: Fields, now: Fields, kept: AbstractSet[int], within: str = ""
) -> Iterator[tuple[int, str, AtomicType | None]]:
    """The columns whose type has other values since the step before, in words; with the type, where values that fit
    into it are the same."""
    by_id = {one.id: one for one in now}
    for one in past:
        new = by_id.get(one.id)
        if new is not None and one.id in kept:
            why = _retyped_inside(f"{within}{new.name}", one.type, new.type, kept)
            if why:
                yield one.id, why, _narrowed(one.type, new.type)


def _retyped_inside(path: str, past: DataType, now: DataType, kept: AbstractSet[int]) -> str:
    if isinstance(past, RowType) and isinstance(now, RowType):
        return next((why for _, why, _ in _retyped(past.fields, now.fields, kept, f"{path}.")), "")
    inside = inner_pairs(past, now)
    if inside:
        found = (_retyped_inside(f"{path}.{part}", one, other, kept) for part, one, other in inside)
        return next(filter(None, found), "")
    if isinstance(past, AtomicType) and isinstance(now, AtomicType) and _keeps_results(past, now):
        return ""
    then, today = past.as_nullable(True), now.as_nullable(True)
    return f"its column '{path}' is {today} and was {then}, so that a value, or what is computed from it, may differ"


def _narrowed(past: DataType, now: DataType) -> AtomicType | None:
    """The type of now, if it is a shorter one of the same kind of numbers: what fits into it stays the same."""
    if not isinstance(past, AtomicType) or not isinstance(now, AtomicType) or _family(past) != _family(now):
        return None
    return now if now.root in INTEGER_ROOTS or now.root == "DECIMAL" else None


def _keeps_results(past: AtomicType, now: AtomicType) -> bool:
    """Whether each value, its text, and the results of arithmetic are the same."""
    return is_same(past, now) or (is_lossless(past, now) and _family(past) == _family(now))


def _family(kind: AtomicType) -> object:
    for roots in (INTEGER_ROOTS, STRING_ROOTS, BINARY_ROOTS):
        if kind.root in roots:
            return roots
    return kind.root, kind.scale or 0


Path = tuple[str, ...]


def renamed_columns(past: Fields, now: Fields) -> list[tuple[Path, Path]]:
    """The paths of columns and fields that have another name today, before and after."""
    return list(_renamed(past, now, (), ()))


def _renamed(past: Fields, now: Fields, within: Path, into: Path) -> Iterator[tuple[Path, Path]]:
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
    for part, one, other in inner_pairs(past, now):
        yield from _renamed_inside(one, other, (*old, part), (*new, part))
