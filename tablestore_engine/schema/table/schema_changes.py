"""Schema changes as values, folded over a schema to give the next one.

Invariant: a change never touches the schema it is applied to; ids of new columns are greater than any id the table
ever had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from tablestore_engine.errors import ColumnNotFound, OptionError, SchemaError, did_you_mean
from tablestore_engine.options import CoreOptions, LayoutOptions, find_option, spellings
from tablestore_engine.schema.merge.merge_options import merge_engine_of
from tablestore_engine.schema.table.creation import check_compressions, check_names, with_defaults
from tablestore_engine.schema.table.file_indexes import indexed_columns
from tablestore_engine.schema.table.layout import with_primary_key
from tablestore_engine.schema.table.partition_time import check_expiration
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    assign_field_ids,
)


@dataclass(frozen=True)
class AddColumn:
    """Add a nullable column at the end; rows that exist read null."""

    name: str
    type: DataType
    comment: str | None = None


@dataclass(frozen=True)
class SetOption:
    """Set a table option."""

    key: str
    value: str


@dataclass(frozen=True)
class RemoveOption:
    """Remove a table option; its default applies again."""

    key: str


@dataclass(frozen=True)
class SetComment:
    """Set the comment of the table, or remove it with None."""

    comment: str | None


@dataclass(frozen=True)
class SetColumnComment:
    """Set the comment of a column, or remove it with None. A dotted name reaches into structs, and by `element`,
    `key` and `value` into arrays and maps."""

    name: str
    comment: str | None


@dataclass(frozen=True)
class SetColumnDefault:
    """Set the default value of a column, as its schema keeps it, or remove it with None. Rows that exist stay."""

    name: str
    default: str | None


SchemaChange = AddColumn | SetOption | RemoveOption | SetComment | SetColumnComment | SetColumnDefault


def apply_changes(
    schema: TableSchema, changes: Sequence[SchemaChange], time_millis: int, *, has_data: bool = True
) -> TableSchema:
    """The next schema, one id higher. ``has_data`` says that the table has a snapshot: some options are fixed then.

    Raises:
        SchemaError: a column that exists already or is NOT NULL.
        ColumnNotFound: a comment for a column that does not exist.
        OptionError: a misspelt option, a bad value, or one that cannot change on a table with data.
    """
    fields, highest = list(schema.fields), schema.highest_field_id
    options, comment = dict(schema.options), schema.comment
    new_options: dict[str, str] = {}
    for change in changes:
        if isinstance(change, AddColumn):
            added, highest = _add_column(change, highest)
            fields.append(added)
        elif isinstance(change, SetOption):
            _check_mutable(schema, change.key, change.value, has_data)
            options[change.key] = new_options[change.key] = change.value
        elif isinstance(change, RemoveOption):
            if change.key in options:
                _check_mutable(schema, change.key, None, has_data)
                del options[change.key]
                new_options.pop(change.key, None)
        elif isinstance(change, SetComment):
            comment = change.comment
        elif isinstance(change, SetColumnComment):
            fields = _set_comment(fields, change)
        elif isinstance(change, SetColumnDefault):
            fields = with_defaults(fields, {change.name: change.default})
        else:
            raise SchemaError(f"The change {change!r} is not supported.")
    check_names([one.name for one in fields])
    key = _first_key(schema, options, new_options)
    primary_keys = key or schema.primary_keys
    # Only what is set now is checked strictly: another writer may have stored other options before.
    CoreOptions.parse(new_options, keyed=bool(primary_keys))
    if any(key.startswith("partition.") for key in new_options):
        check_expiration(CoreOptions.parse(options, strict=False), schema.partition_keys)
    if any(key.startswith("file") for key in new_options):
        parsed = CoreOptions.parse(options, strict=False)
        indexed_columns(parsed, fields)
        check_compressions(parsed)
    if new_options or len(fields) > len(schema.fields):
        parsed = CoreOptions.parse(options, strict=False)
        engine = merge_engine_of(fields, primary_keys, parsed, schema.partition_keys)
        if has_data and schema.merge_engine.stores_retractions and not engine.reads_retractions:
            raise OptionError(
                "The new column has a function that cannot take values back, but the table may hold retractions.",
                hint="Make a new table with it and copy the rows.",
            )
    changed = replace(
        schema, id=schema.id + 1, fields=tuple(fields), highest_field_id=highest, options=options,
        comment=comment, time_millis=time_millis, replaces=None, base=None,
    )  # fmt: skip
    return replace(with_primary_key(changed, key, 1, schema.id, time_millis), replaces=None) if key else changed


def _first_key(schema: TableSchema, options: dict[str, str], new_options: dict[str, str]) -> tuple[str, ...]:
    """Takes the first primary key of an empty table out of the options, as CREATE TABLE does."""
    option = LayoutOptions.primary_key
    if schema.is_keyed or option.key not in new_options:
        return ()
    del options[option.key]
    return option.parse(new_options.pop(option.key))


def _add_column(change: AddColumn, highest: int) -> tuple[DataField, int]:
    if not change.type.nullable:
        raise SchemaError(
            f"Column '{change.name}' cannot be added as NOT NULL: rows that exist have no value for it.",
            hint="Add it without NOT NULL.",
        )
    ids = count(highest + 1)
    number = next(ids)
    data_type = assign_field_ids(change.type, lambda: next(ids))
    return DataField(number, change.name, data_type, change.comment), next(ids) - 1


def _set_comment(fields: Sequence[DataField], change: SetColumnComment) -> list[DataField]:
    for path in ([change.name], change.name.split(".")):
        for at, one in enumerate(fields):
            if one.name.lower() == path[0].lower():
                changed = _with_comment(one, path[1:], change.comment)
                if changed is not None:
                    return [*fields[:at], changed, *fields[at + 1 :]]
    hint = did_you_mean(change.name, [one.name for one in fields])
    raise ColumnNotFound(f"Column '{change.name}' does not exist.", hint=hint)


def _with_comment(field: DataField, path: Sequence[str], comment: str | None) -> DataField | None:
    if not path:
        return replace(field, description=comment)
    inner = _type_with_comment(field.type, path, comment)
    return None if inner is None else replace(field, type=inner)


def _type_with_comment(data_type: DataType, path: Sequence[str], comment: str | None) -> DataType | None:
    """The type with the comment of a field inside of it, None when there is no such field."""
    step, rest = path[0].lower(), path[1:]
    if isinstance(data_type, RowType):
        for at, one in enumerate(data_type.fields):
            changed = _with_comment(one, rest, comment) if one.name.lower() == step else None
            if changed is not None:
                return replace(data_type, fields=(*data_type.fields[:at], changed, *data_type.fields[at + 1 :]))
    elif isinstance(data_type, ArrayType) and step == "element" and rest:
        element = _type_with_comment(data_type.element, rest, comment)
        return None if element is None else replace(data_type, element=element)
    elif isinstance(data_type, MapType) and step in ("key", "value") and rest:
        part = _type_with_comment(data_type.key if step == "key" else data_type.value, rest, comment)
        if part is not None:
            return replace(data_type, key=part) if step == "key" else replace(data_type, value=part)
    return None


def _check_mutable(schema: TableSchema, key: str, value: str | None, has_data: bool) -> None:
    option = find_option(key)
    if option is None or not option.immutable:
        return
    if option.key == "bucket" and _both_fixed(schema, value):
        return  # each partition keeps its own number until it is rewritten
    columns = key[len("fields.") :].rpartition(".")[0] if option.is_pattern and key.startswith("fields.") else ""
    if columns and not any(schema.has_field(name.strip()) for name in columns.split(",")):
        return  # of a column that comes with this change
    set_by = next((one for one in (key, *spellings(key)) if one in schema.options), None)
    before = option.parse(schema.options[set_by]) if set_by else option.default
    after = option.parse(value) if value is not None else option.default
    if option.key == "primary-key" and not schema.is_keyed:
        if has_data:
            raise OptionError(
                "The table has been written to, so its primary key is not set as an option.",
                hint="Use ALTER TABLE … ADD PRIMARY KEY (…) NOT ENFORCED, which rewrites the rows.",
            )
        return
    if before != after and (has_data or option.key in ("primary-key", "partition")):
        raise OptionError(
            f"Option '{key}' cannot be changed on a table that has data.",
            hint="Create a new table with it and copy the rows.",
        )


def _both_fixed(schema: TableSchema, value: str | None) -> bool:
    return value is not None and schema.core_options.bucket > 0 and CoreOptions.parse({"bucket": value}).bucket > 0
