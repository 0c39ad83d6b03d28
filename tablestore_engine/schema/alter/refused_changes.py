"""Which changes of columns a table refuses, and what to do instead. Pure: each function raises, or returns nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tablestore_engine.errors import SchemaError, UnsupportedTypeError
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.alter.edit_fields import Path, shown
from tablestore_engine.schema.casts.cast_old_columns import ANOTHER_COLUMN, CastMode, unreadable
from tablestore_engine.schema.casts.cast_old_columns import check_retype as check_cast
from tablestore_engine.schema.table.computed_columns import reader_of
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import CASE_HINT
from tablestore_engine.schema.types.types import (
    INTEGER_ROOTS,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    AtomicType,
    DataField,
    DataType,
    refuse_equal_fields,
    refuse_nanoseconds,
)

_COPY = "Create a new table and copy the rows."
_NUMBERS = (*INTEGER_ROOTS, "FLOAT", "DOUBLE", "DECIMAL")
_TIMES = ("DATE", *TIMESTAMP_ROOTS)
# Functions that compare or calculate, whose results of old values must remain those of the new ones.
_CALCULATING = ("sum", "product", "max", "min", "count")


def check_not_computed_from(options: Mapping[str, str], fields: Iterable[DataField], path: Path, verb: str) -> None:
    """Raise a SchemaError for a column that a computed one, a watermark or a CHECK constraint reads."""
    reader = reader_of(options, path[0], (one.name for one in fields))
    if reader is not None:
        raise SchemaError(f"Column '{shown(path)}' cannot be {verb}: it is read by {reader}.")


def check_not_key(schema: TableSchema, path: Path, what: str) -> None:
    """Raise a SchemaError for a column of the primary key, or one that says the partition."""
    if path[0] in schema.primary_keys:
        raise SchemaError(
            f"Column '{path[0]}' is part of the primary key ({', '.join(schema.primary_keys)}), so it cannot be "
            f"{what}.",
            hint="A primary key never changes: create a new table with another key and copy the rows.",
        )
    if path[0] in schema.partition_keys:
        raise SchemaError(
            f"Column '{path[0]}' is a partition column ({', '.join(schema.partition_keys)}), so it cannot be {what}.",
            hint=f"ALTER TABLE … DROP PARTITION FIELD {path[0]} first: new rows are not partitioned by it then. Or "
            "create a new table that is partitioned otherwise and copy the rows.",
        )


def check_new_field(path: Path, data_type: DataType, siblings: Iterable[DataField], *, by_case: bool = False) -> None:
    """Raise for a new field that is NOT NULL, has a type that is not written, or the name of a sibling."""
    if not data_type.nullable:
        raise SchemaError(
            f"Column '{shown(path)}' cannot be added as NOT NULL: rows that exist have no value for it.",
            hint="Add it without NOT NULL.",
        )
    refuse_equal_fields(shown(path), data_type)
    refuse_nanoseconds(shown(path), data_type)
    check_sibling_name(path, path[-1], siblings, by_case=by_case)


def check_sibling_name(path: Path, name: str, siblings: Iterable[DataField], *, by_case: bool = False) -> None:
    """Raise a SchemaError for a blank name, and for one that a sibling has. `by_case`: in the same spelling."""
    if not name.strip():
        raise SchemaError("A column needs a name.")
    names = (one.name for one in siblings)
    other = next((one for one in names if one == name or (one.lower() == name.lower() and not by_case)), None)
    if other is not None:
        where = f" in '{shown(path[:-1])}'" if len(path) > 1 else ""
        hint = "Choose another name." if other == name else f"Choose another name. {CASE_HINT}"
        raise SchemaError(f"There is a column '{other}'{where} already.", hint=hint)


def check_retype(schema: TableSchema, options: CoreOptions, path: Path, past: Iterable[DataType], to: DataType) -> None:
    """Raise for a type that old values cannot have, or with which records would be ordered or hashed otherwise.

    `past` are the types that the column has had, beginning with the current one; files may hold each of them.

    Raises:
        SchemaError: a key, bucket or sequence column, or a function's; no cast that the table allows.
        UnsupportedTypeError: values could change.
    """
    check_not_key(schema, path, "given another type")
    if path[0] in options.bucket_key:
        raise SchemaError(
            f"Column '{path[0]}' chooses the bucket ('bucket-key'), so it cannot be given another type.", hint=_COPY
        )
    refuse_equal_fields(shown(path), to)
    refuse_nanoseconds(shown(path), to)
    past = tuple(past)
    check_cast(shown(path), past[0], to, CastMode(options.schema_evolution_cast))
    for one in past:
        found = unreadable(shown(path), one, to)
        if found is not None:
            name, source, target = found
            raise UnsupportedTypeError(
                f"Column '{name}' was {source.as_nullable(True)} before, and files of that time, of snapshots that a "
                f"rollback may bring back, too, are not read as {target.as_nullable(True)}: Spark has no such cast.",
                hint=ANOTHER_COLUMN,
            )
        reason = _ordering_reason(options, path[0])
        if reason and not keeps_order(one, to):
            raise SchemaError(
                f"Column '{path[0]}' {reason}, so it cannot change from {one.as_nullable(True)} to "
                f"{to.as_nullable(True)}, which has another order.",
                hint=_COPY,
            )


def keeps_order(past: DataType, current: DataType) -> bool:
    """Whether values of the one type compare as those of the other do."""
    if not (isinstance(past, AtomicType) and isinstance(current, AtomicType)):
        return past.as_nullable(True) == current.as_nullable(True)
    return past.root == current.root or any(
        past.root in family and current.root in family for family in (_NUMBERS, _TIMES, STRING_ROOTS)
    )


def _ordering_reason(options: CoreOptions, column: str) -> str | None:
    if column in options.sequence_field:
        return "orders records ('sequence.field')"
    if any(column in (one.strip() for one in key.split(",")) for key in options.column_sequence_groups):
        return "orders a sequence group"
    function = options.column_aggregate_functions.get(column, options.default_aggregate_function)
    return f"is aggregated by {function}" if function in _CALCULATING else None


def check_nullability(schema: TableSchema, path: Path) -> None:
    """Raise a SchemaError if the column must not become null."""
    if path[0] in schema.primary_keys:
        raise SchemaError(
            f"Column '{path[0]}' is part of the primary key ({', '.join(schema.primary_keys)}), which is never null.",
            hint="A primary key never changes: create a new table with another key and copy the rows.",
        )


def check_left(path: Path, left: Iterable[DataField]) -> None:
    """Raise a SchemaError unless fields are left next to a dropped one."""
    if not tuple(left):
        what = "table" if len(path) == 1 else f"struct '{shown(path[:-1])}'"
        raise SchemaError(
            f"Column '{shown(path)}' is the last one of the {what}, so it cannot be dropped.",
            hint="Drop the table." if len(path) == 1 else f"Drop '{shown(path[:-1])}'.",
        )
