"""A schema in the making: what the changes so far have made of its columns and options.

Invariant: the schema itself never changes; ids of new fields are greater than any id the table ever had.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import singledispatchmethod
from itertools import count

from tablestore_engine.errors import ColumnNotFound, SchemaError, did_you_mean
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.alter import computed_column_changes
from tablestore_engine.schema.alter.column_options import (
    check_nested_drop,
    nested_renamed_in_options,
    renamed_in_options,
    without_columns,
)
from tablestore_engine.schema.alter.edit_fields import (
    Fields,
    Path,
    added,
    commented,
    edited,
    find_path,
    no_path,
    position,
    require_path,
    retyped,
    shown,
    siblings_of,
    type_at,
)
from tablestore_engine.schema.alter.matched_types import matched
from tablestore_engine.schema.alter.partition_fields import changed_partition_keys
from tablestore_engine.schema.alter.refused_changes import (
    check_left,
    check_new_field,
    check_not_computed_from,
    check_not_key,
    check_nullability,
    check_retype,
    check_sibling_name,
)
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    AddComputedColumn,
    ColumnChange,
    DropColumn,
    MoveColumn,
    PartitionChange,
    RenameColumn,
    RetypeColumn,
    SetColumnComment,
    SetColumnDefault,
    SetNullability,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField, DataType, MapType, assign_field_ids


class Draft:
    """The columns and options of a next schema. `earlier` are versions of the schema whose files may be left."""

    def __init__(self, schema: TableSchema, earlier: Sequence[TableSchema]) -> None:
        self._schema = schema
        self.partition_keys = schema.partition_keys
        self._earlier = earlier
        self.fields: Fields = schema.fields
        self.options: dict[str, str] = dict(schema.options)
        self.highest_field_id = schema.highest_field_id
        self._dropped: list[str] = []

    def change(self, change: ColumnChange) -> None:
        """Take over one change of a column. Raises SchemaError, ColumnNotFound, UnsupportedTypeError."""
        if not isinstance(change, DropColumn):
            self.settle_drops()
        self._change(change)

    def change_partitions(self, change: PartitionChange) -> None:
        """Take over another partition column. Raises SchemaError, ColumnNotFound."""
        self.settle_drops()
        self.partition_keys = changed_partition_keys(self._schema, self.partition_keys, change, self.fields)

    @property
    def _keyed(self) -> TableSchema:
        """The schema with the keys that it has by now."""
        return replace(self._schema, partition_keys=self.partition_keys)

    def settle_drops(self) -> None:
        """Take the columns that were dropped in a row out of the options. Raises SchemaError if one must stay."""
        dropped, self._dropped = self._dropped, []
        if dropped:
            self.options = without_columns(self.options, dropped)

    @singledispatchmethod
    def _change(self, change: ColumnChange) -> None:
        raise SchemaError(f"The change {change!r} is not supported.")

    @_change.register
    def _add(self, change: AddColumn) -> None:
        path = _path(change.name)
        parent = require_path(self.fields, path[:-1]) if len(path) > 1 else ()
        path = (*parent, path[-1])
        known = find_path(self.fields, path)
        if change.if_not_exists and known is not None and not (change.by_case and known != path):
            return
        _check_not_in_key(self.fields, parent)
        computed_column_changes.check_not_computed(self.options, path)
        ids = count(self.highest_field_id + 1)
        number = next(ids)
        data_type = assign_field_ids(change.type, lambda: next(ids))
        field = DataField(number, path[-1], data_type, change.comment)

        def insert(siblings: Fields) -> Fields:
            check_new_field(path, change.type, siblings, by_case=change.by_case)
            first, after = self._neighbour(path, change)
            at = _target(siblings, path, first=first, after=after)
            return (*siblings[:at], field, *siblings[at:])

        self.fields = added(self.fields, parent, insert)
        self.highest_field_id = next(ids) - 1

    @_change.register
    def _add_computed(self, change: AddComputedColumn) -> None:
        self.options = computed_column_changes.with_added(self.options, self.fields, change)

    @_change.register
    def _drop(self, change: DropColumn) -> None:
        found = computed_column_changes.computed_at(self.options, _path(change.name))
        if found is not None:
            self.options = computed_column_changes.without(self.options, found)
            return
        path = find_path(self.fields, change.name)
        if path is None or (change.by_case and shown(path) != shown(change.name)):
            if change.if_exists:
                return
            raise no_path(self.fields, change.name)
        check_not_key(self._keyed, path, "dropped")
        check_not_computed_from(self.options, self.fields, path, "dropped")
        _check_not_in_key(self.fields, path[:-1])

        def drop(siblings: Fields, at: int) -> Fields:
            left = (*siblings[:at], *siblings[at + 1 :])
            check_left(path, left)
            return left

        self.fields = edited(self.fields, path, drop)
        if len(path) == 1:
            self._dropped.append(path[0])
        else:
            check_nested_drop(self.options, path[0], path[-1])

    @_change.register
    def _rename(self, change: RenameColumn) -> None:
        found = computed_column_changes.computed_at(self.options, _path(change.name))
        if found is not None:
            check_sibling_name((found.name,), change.new, self.fields)
            if change.new.lower() != found.name.lower():
                computed_column_changes.check_not_computed(self.options, (change.new,))
            self.options = computed_column_changes.with_changed(self.options, replace(found, name=change.new))
            return
        path = require_path(self.fields, change.name)
        check_not_key(self._keyed, path, "renamed")
        check_not_computed_from(self.options, self.fields, path, "renamed")
        _check_not_in_key(self.fields, path[:-1])

        if len(path) == 1:
            computed_column_changes.check_not_computed(self.options, (change.new,))

        def rename(siblings: Fields, at: int) -> Fields:
            check_sibling_name(path, change.new, (*siblings[:at], *siblings[at + 1 :]), by_case=change.by_case)
            return (*siblings[:at], replace(siblings[at], name=change.new), *siblings[at + 1 :])

        self.fields = edited(self.fields, path, rename)
        if len(path) == 1:
            self.options = renamed_in_options(self.options, path[0], change.new)
        else:
            self.options = nested_renamed_in_options(self.options, path[0], path[-1], change.new)

    @_change.register
    def _retype(self, change: RetypeColumn) -> None:
        computed_column_changes.check_not_computed(self.options, _path(change.name))
        path = require_path(self.fields, change.name)
        ids = count(self.highest_field_id + 1)
        _check_not_in_key(self.fields, path)
        now = type_at(self.fields, path)
        wanted = matched(shown(path), now, change.type, lambda: next(ids))
        if wanted == now:
            return
        options = CoreOptions.parse(self.options, strict=False)
        check_retype(self._keyed, options, path, (now, *self._past_types(path)), wanted)
        self.fields = retyped(self.fields, path, lambda _: wanted)
        self.highest_field_id = next(ids) - 1

    @_change.register
    def _move(self, change: MoveColumn) -> None:
        computed_column_changes.check_not_computed(self.options, _path(change.name))
        path = require_path(self.fields, change.name)
        _check_not_in_key(self.fields, path[:-1])

        def move(siblings: Fields, at: int) -> Fields:
            others = (*siblings[:at], *siblings[at + 1 :])
            if change.after is not None and position(siblings, change.after) == at:
                raise SchemaError(f"Column '{shown(path)}' cannot be moved after itself.")
            first, after = self._neighbour(path, change)
            to = _target(others, path, first=first, after=after)
            return (*others[:to], siblings[at], *others[to:])

        self.fields = edited(self.fields, path, move)

    @_change.register
    def _set_nullability(self, change: SetNullability) -> None:
        computed_column_changes.check_not_computed(self.options, _path(change.name))
        path = require_path(self.fields, change.name)
        if change.nullable:
            check_nullability(self._schema, path)
            if _is_map_key(self.fields, path):
                raise SchemaError(f"'{shown(path)}' is the key of a map, which is never null.")
        self.fields = retyped(self.fields, path, lambda now: now.as_nullable(change.nullable))

    @_change.register
    def _comment(self, change: SetColumnComment) -> None:
        found = computed_column_changes.computed_at(self.options, _path(change.name))
        if found is not None:
            self.options = computed_column_changes.with_changed(self.options, replace(found, comment=change.comment))
            return
        self.fields = commented(self.fields, require_path(self.fields, change.name), change.comment)

    @_change.register
    def _default(self, change: SetColumnDefault) -> None:
        computed_column_changes.check_not_computed(self.options, _path(change.name))
        path = require_path(self.fields, change.name)
        if len(path) > 1:
            raise SchemaError(f"'{shown(path)}' is a part of a column, which has no default value of its own.")

        def set_default(siblings: Fields, at: int) -> Fields:
            return (*siblings[:at], replace(siblings[at], default_value=change.default), *siblings[at + 1 :])

        self.fields = edited(self.fields, path, set_default)

    def _neighbour(self, path: Path, change: AddColumn | MoveColumn) -> tuple[bool, str | None]:
        """Whether a column comes first, or after which one: of those that are stored."""
        found = None
        if len(path) == 1 and change.after is not None:
            others = tuple(one for one in self.fields if one.name != path[0])
            found = computed_column_changes.stored_neighbour(self.options, others, change.after)
        return (change.first, change.after) if found is None else found

    def _past_types(self, path: Path) -> list[DataType]:
        """The types that a column, or what is at a path inside of it, had in earlier versions."""
        ids = _ids(self.fields, path)
        found = (_type_by_ids(one.fields, path, ids) for one in self._earlier)
        return list(dict.fromkeys(one for one in found if one is not None))


def _path(name: str | Path) -> Path:
    return (name,) if isinstance(name, str) else name


def _target(siblings: Fields, path: Path, *, first: bool, after: str | None) -> int:
    """The position that a field is put at. Raises ColumnNotFound."""
    if first:
        return 0
    if after is None:
        return len(siblings)
    at = position(siblings, after)
    if at is None:
        raise ColumnNotFound(
            f"Column '{shown((*path[:-1], after))}' does not exist, so '{shown(path)}' cannot come after it.",
            hint=did_you_mean(after, [one.name for one in siblings]),
        )
    return at + 1


def _is_map_key(fields: Fields, path: Path) -> bool:
    return len(path) > 1 and isinstance(type_at(fields, path[:-1]), MapType) and path[-1] == "key"


def _check_not_in_key(fields: Fields, parent: Path) -> None:
    """Raise a SchemaError for the key of a map, and for what is inside of it: keys must remain as they are."""
    for depth in range(2, len(parent) + 1):
        if _is_map_key(fields, parent[:depth]):
            raise SchemaError(
                f"'{shown(parent[:depth])}' is the key of a map, which cannot be changed: keys that differ now might "
                "be equal then.",
                hint="Add a column with the other type.",
            )


def _ids(fields: Fields, path: Path) -> Mapping[int, int]:
    """The ids of the fields that a path goes through, by their depth in it."""
    found = {}
    for depth in range(1, len(path) + 1):
        siblings = siblings_of(fields, path[:depth])
        at = position(siblings, path[depth - 1])
        if at is not None:
            found[depth] = siblings[at].id
    return found


def _type_by_ids(fields: Fields, path: Path, ids: Mapping[int, int]) -> DataType | None:
    """The type at a path through the fields of these ids, whatever they were named; None when there was none."""
    then: Path = ()
    for depth in range(1, len(path) + 1):
        if depth not in ids:
            then = (*then, path[depth - 1])
            if find_path(fields, then) is None:
                return None
            continue
        siblings = siblings_of(fields, (*then, ""))
        name = next((one.name for one in siblings if one.id == ids[depth]), None)
        if name is None:
            return None
        then = (*then, name)
    return type_at(fields, then)
