"""Changes of computed columns: they are options of the table, numbered by their index among all columns. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tablestore_engine.errors import ColumnNotFound, SchemaError, did_you_mean
from tablestore_engine.schema.alter.edit_fields import Fields, Path
from tablestore_engine.schema.table.computed_columns import (
    ComputedColumn,
    all_columns,
    computed_columns,
    computed_options,
    other_options,
    watermark_of,
)
from tablestore_engine.schema.table.schema_changes import AddComputedColumn


def computed_at(options: Mapping[str, str], path: Path) -> ComputedColumn | None:
    """The computed column at a path."""
    found = (one for one in computed_columns(options) if len(path) == 1 and one.name.lower() == path[0].lower())
    return next(found, None)


def check_not_computed(options: Mapping[str, str], path: Path) -> None:
    """Raise a SchemaError when a computed column has a name, or for a change that only stored columns know."""
    found = computed_at(options, path)
    if found is not None:
        raise SchemaError(
            f"Column '{found.name}' is computed (AS {found.sql}).",
            hint="It can be renamed, get a comment, or be dropped and added again.",
        )


def stored_neighbour(options: Mapping[str, str], fields: Fields, after: str) -> tuple[bool, str | None] | None:
    """The position of a stored column that comes after a computed one: first, or after which stored one. None where
    `after` is not computed."""
    columns = computed_columns(options)
    if not any(one.name.lower() == after.lower() for one in columns):
        return None
    shown = all_columns([(one.name, True) for one in fields], columns, lambda one: (one.name, False))
    at = [name.lower() for name, _ in shown].index(after.lower())
    before = [name for name, is_stored in shown[:at] if is_stored]
    return not before, before[-1] if before else None


def with_added(options: Mapping[str, str], fields: Fields, change: AddComputedColumn) -> dict[str, str]:
    """The options with one computed column more. Raises SchemaError, ColumnNotFound."""
    columns = computed_columns(options)
    names = all_columns([one.name for one in fields], columns, lambda one: one.name)
    lowered = [one.lower() for one in names]
    if change.name.lower() in lowered:
        if change.if_not_exists:
            return dict(options)
        raise SchemaError(f"There is a column '{change.name}' already.", hint="Choose another name.")
    at = 0 if change.first else len(names)
    if change.after is not None:
        if change.after.lower() not in lowered:
            raise ColumnNotFound(
                f"Column '{change.after}' does not exist, so '{change.name}' cannot come after it.",
                hint=did_you_mean(change.after, names),
            )
        at = lowered.index(change.after.lower()) + 1
    kept = [replace(one, index=one.index + (one.index >= at)) for one in columns]
    return _with(options, [*kept, ComputedColumn(at, change.name, change.sql, change.comment, change.type_text)])


def without(options: Mapping[str, str], dropped: ComputedColumn) -> dict[str, str]:
    """The options without a computed column."""
    kept = (one for one in computed_columns(options) if one.name != dropped.name)
    return _with(options, [replace(one, index=one.index - (one.index > dropped.index)) for one in kept])


def with_changed(options: Mapping[str, str], changed: ComputedColumn) -> dict[str, str]:
    """The options with another name or comment of the computed column at an index."""
    return _with(options, [changed if one.index == changed.index else one for one in computed_columns(options)])


def _with(options: Mapping[str, str], columns: Sequence[ComputedColumn]) -> dict[str, str]:
    return {**other_options(options), **computed_options(columns, watermark_of(options))}
