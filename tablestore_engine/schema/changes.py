"""Schema changes as values, folded over a schema to give the next one.

Invariant: a change never touches the schema it is applied to; ids of new columns are greater than any id the table
ever had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count

from tablestore_engine.errors import OptionError, SchemaError
from tablestore_engine.options import CoreOptions, find_option
from tablestore_engine.schema.creation import check_names
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.schema.types import DataField, DataType, assign_field_ids


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


SchemaChange = AddColumn | SetOption | RemoveOption | SetComment


def apply_changes(
    schema: TableSchema, changes: Sequence[SchemaChange], time_millis: int, *, has_data: bool = True
) -> TableSchema:
    """The next schema, one id higher. ``has_data`` says that the table has a snapshot: some options are fixed then.

    Raises:
        SchemaError: a column that exists already or is NOT NULL.
        OptionError: an unknown option, a bad value, or one that cannot change on a table with data.
    """
    fields, highest = list(schema.fields), schema.highest_field_id
    options, comment = dict(schema.options), schema.comment
    touched: dict[str, str] = {}
    for change in changes:
        if isinstance(change, AddColumn):
            added, highest = _add_column(change, highest)
            fields.append(added)
        elif isinstance(change, SetOption):
            _check_mutable(schema, change.key, change.value, has_data)
            options[change.key] = touched[change.key] = change.value
        elif isinstance(change, RemoveOption):
            if change.key in options:
                _check_mutable(schema, change.key, None, has_data)
                del options[change.key]
                touched.pop(change.key, None)
        elif isinstance(change, SetComment):
            comment = change.comment
        else:
            raise SchemaError(f"The change {change!r} is not supported.")
    check_names([one.name for one in fields])
    # Only what is set now is checked strictly: what another writer stored before is not this change's fault.
    CoreOptions.parse(touched, keyed=schema.is_keyed)
    return replace(
        schema, id=schema.id + 1, fields=tuple(fields), highest_field_id=highest, options=options,
        comment=comment, time_millis=time_millis, replaces=None,
    )  # fmt: skip


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


def _check_mutable(schema: TableSchema, key: str, value: str | None, has_data: bool) -> None:
    option = find_option(key)
    if option is None or not option.immutable:
        return
    before = option.parse(schema.options[key]) if key in schema.options else option.default
    after = option.parse(value) if value is not None else option.default
    if before != after and (has_data or option.key in ("primary-key", "partition")):
        raise OptionError(
            f"Option '{key}' cannot be changed on a table that has data.",
            hint="Create a new table with it and copy the rows.",
        )
