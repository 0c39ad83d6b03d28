"""Schema changes folded over a schema give the next one.

Invariant: all changes are made, or none; everything that can be wrong is found before a file is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tablestore_engine.errors import OptionError, SchemaError
from tablestore_engine.options import ChangelogOptions, CoreOptions, LayoutOptions
from tablestore_engine.schema.alter.draft import Draft
from tablestore_engine.schema.alter.edit_fields import Path
from tablestore_engine.schema.alter.immutable_options import BUCKET_OPTIONS, check_bucket_options, check_mutable
from tablestore_engine.schema.alter.partition_fields import with_partition_keys
from tablestore_engine.schema.casts.cast_old_columns import never_fails
from tablestore_engine.schema.merge_engines.merge_options import merge_engine_of
from tablestore_engine.schema.table.check_constraints import CheckConstraint, refuse_unchecked, with_check
from tablestore_engine.schema.table.create_schema import (
    check_formats,
    check_ignored,
    check_names,
    check_producer,
    check_values_of_levels,
)
from tablestore_engine.schema.table.deletion_vector_rules import check_vectors_written
from tablestore_engine.schema.table.indexed_columns import indexed_columns
from tablestore_engine.schema.table.layout import with_primary_key
from tablestore_engine.schema.table.partition_time import check_expiration
from tablestore_engine.schema.table.schema_changes import (
    AddCheckConstraint,
    ColumnChange,
    PartitionChange,
    RemoveOption,
    SchemaChange,
    SetComment,
    SetOption,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import AtomicType, DataField, DataType, RowType, inner_pairs


def apply_changes(
    schema: TableSchema,
    changes: Sequence[SchemaChange],
    time_millis: int,
    *,
    has_data: bool = True,
    earlier: Sequence[TableSchema] = (),
) -> TableSchema:
    """The next schema, one id higher.

    Args:
        schema: the current one.
        changes: applied in order; a later one sees what the earlier ones made.
        time_millis: when.
        has_data: whether the table has a snapshot: some options are fixed then.
        earlier: the versions of the schema before, whose files may be left: for changes of types.

    Raises:
        SchemaError: a change that a column does not allow.
        ColumnNotFound: a column that does not exist.
        UnsupportedTypeError: a type that values of the column could not be read as.
        OptionError: a misspelt option, a bad value, or one that cannot change on a table with data.
    """
    draft, comment = Draft(schema, earlier if has_data else ()), schema.comment
    new_options: dict[str, str] = {}
    changed_keys: set[str] = set()
    for change in changes:
        if isinstance(change, PartitionChange):
            draft.change_partitions(change)
        elif isinstance(change, SetComment):
            comment = change.comment
        elif isinstance(change, SetOption):
            draft.settle_drops()
            refuse_unchecked(change.key)
            check_mutable(schema, change.key, change.value, has_data)
            draft.options[change.key] = new_options[change.key] = change.value
            changed_keys.add(change.key)
        elif isinstance(change, RemoveOption):
            draft.settle_drops()
            if change.key in draft.options:
                check_mutable(schema, change.key, None, has_data)
                del draft.options[change.key]
                new_options.pop(change.key, None)
                changed_keys.add(change.key)
        elif isinstance(change, AddCheckConstraint):
            draft.settle_drops()
            draft.options = with_check(draft.options, CheckConstraint(change.name, change.sql))
        elif isinstance(change, ColumnChange):
            draft.change(change)
        else:
            raise SchemaError(f"The change {change!r} is not supported.")
    draft.settle_drops()
    key = _first_key(schema, draft.options, new_options)
    _check(schema, draft, {k: v for k, v in new_options.items() if k in draft.options}, key, has_data)
    if key or not changed_keys.isdisjoint(BUCKET_OPTIONS):
        check_bucket_options(draft.fields, key or schema.primary_keys, draft.partition_keys, draft.options)
    changed = replace(
        schema, id=schema.id + 1, fields=draft.fields, highest_field_id=draft.highest_field_id,
        options=draft.options, comment=comment, time_millis=time_millis, replaces=None, base=None,
    )  # fmt: skip
    changed = with_partition_keys(schema, changed, draft.partition_keys, has_data)
    if new_options:
        check_vectors_written(changed)
    return replace(with_primary_key(changed, key, 1, schema.id, time_millis), replaces=None) if key else changed


def _check(
    schema: TableSchema,
    draft: Draft,
    new_options: dict[str, str],
    key: tuple[str, ...],
    has_data: bool,
) -> None:
    """Raise unless columns, keys and options fit each other."""
    fields, options, partition_keys = draft.fields, draft.options, draft.partition_keys
    check_names([one.name for one in fields])
    primary_keys = key or schema.primary_keys
    # Only what is set now is checked strictly: another writer may have stored other options before.
    CoreOptions.parse(new_options, keyed=bool(primary_keys))
    columns_changed = _shape(fields) != _shape(schema.fields)
    parsed = CoreOptions.parse(options, strict=False)
    if key and parsed.log_system != "none":
        raise OptionError(
            "A table with a log gets no primary key afterwards: the messages of its topic have no keys.",
            hint="Create a new table with it and copy the rows.",
        )
    if partition_keys != schema.partition_keys or any(one.startswith("partition.") for one in new_options):
        check_expiration(parsed, partition_keys)
    if columns_changed or any(one.startswith("file") for one in new_options):
        indexed_columns(parsed, fields)
        check_values_of_levels(parsed)
        check_formats(parsed, fields)
    if ChangelogOptions.row_deduplicate_ignore_fields.key in new_options:
        check_ignored(parsed, [one.name for one in fields])
    if ChangelogOptions.changelog_producer.key in new_options:
        check_producer(parsed, keyed=bool(primary_keys))
    if {one.name for one in fields} <= set(partition_keys):
        raise SchemaError("A table needs at least one column besides the partition columns.")
    if new_options or columns_changed:
        engine = merge_engine_of(fields, primary_keys, parsed, partition_keys)
        if has_data and schema.merge_engine.stores_retractions and not engine.reads_retractions:
            raise OptionError(
                "After this change a column could not take values back, but the table may hold retractions.",
                hint="Make a new table with it and copy the rows.",
            )


def _shape(fields: Sequence[DataField]) -> list[tuple[int, str, object]]:
    return [(one.id, one.name, one.type) for one in fields]


def _first_key(schema: TableSchema, options: dict[str, str], new_options: dict[str, str]) -> tuple[str, ...]:
    """Takes the first primary key of an empty table out of the options, as CREATE TABLE does."""
    option = LayoutOptions.primary_key
    if schema.is_keyed or option.key not in new_options:
        return ()
    del options[option.key]
    return option.parse(new_options.pop(option.key))


def forbidden_nulls(before: TableSchema, after: TableSchema, earlier: Sequence[TableSchema]) -> list[Path]:
    """The columns of the next schema, and what is inside of them, that could be null and cannot be any longer, or that
    a cast may make null (`schema.evolution.cast` = explicit-null): `earlier` schemas may have files, too."""
    casts = not after.cast_rules.fails
    past = [{one.id: one.type for one in schema.fields} for schema in (before, *(earlier if casts else ()))]
    fields = [one for one in after.fields if one.name not in after.primary_keys]
    return [
        path
        for one in fields
        for path in _forbidden((one.name,), past[0].get(one.id), one.type, _at(past[1:], one.id), casts)
    ]


def _forbidden(
    path: Path, before: DataType | None, after: DataType, earlier: Sequence[DataType], casts: bool
) -> Iterator[Path]:
    """The paths of a column or field; `before` is None for one that rows of before do not have."""
    known = [*earlier, *([] if before is None else [before])]
    fails = casts and isinstance(after, AtomicType) and not all(never_fails(one, after) for one in known)
    if not after.nullable and (before is None or before.nullable or fails):
        yield path
    if before is None:
        return
    for at, (part, was, now) in enumerate(inner_pairs(before, after)):
        inner = [pairs[at][1] for one in earlier if (pairs := inner_pairs(one, after))]
        yield from _forbidden((*path, part), was, now, inner, casts)
    if isinstance(before, RowType) and isinstance(after, RowType):
        past = [{f.id: f.type for f in one.fields} for one in (before, *earlier) if isinstance(one, RowType)]
        for one in after.fields:
            yield from _forbidden((*path, one.name), past[0].get(one.id), one.type, _at(past[1:], one.id), casts)


def _at(past: Sequence[Mapping[int, DataType]], number: int) -> list[DataType]:
    return [one[number] for one in past if number in one]
