"""From a CREATE TABLE to a schema, with all checks of its columns, keys and options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count

from tablestore_engine.errors import ColumnNotFound, OptionError, SchemaError, did_you_mean
from tablestore_engine.options import ChangelogOptions, CoreOptions, FileOptions, LayoutOptions, Option
from tablestore_engine.schema.merge_engines.merge_options import merge_engine_of
from tablestore_engine.schema.table.deletion_vector_rules import check_vectors_written
from tablestore_engine.schema.table.indexed_columns import indexed_columns
from tablestore_engine.schema.table.partition_time import check_expiration
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.system_columns import is_system_name
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    AtomicType,
    DataField,
    DataType,
    assign_field_ids,
    check_format,
    nested_fields,
    refuse_equal_fields,
    refuse_nanoseconds,
)

Column = tuple[str, DataType, "str | None"]

# Types whose partition directory is a number in Paimon's old naming and a readable text in the new one.
_RENAMED_PARTITIONS = ("DATE", "TIME")


def create_schema(
    columns: Sequence[Column],
    primary_keys: Sequence[str] = (),
    partition_keys: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
    comment: str | None = None,
    time_millis: int = 0,
    *,
    default_buckets: int = 1,
) -> TableSchema:
    """The first schema of a new table; ids are given to all columns and nested fields.

    A keyed table without the option ``bucket`` gets ``default_buckets``, stored so that every reader uses
    the same number, or dynamic buckets if its keys may move between partitions. ``primary-key`` and ``partition`` may
    come as options instead. Names that differ in case only are the caller's to refuse (`Resolver.check_alike`).

    Raises:
        SchemaError: no columns, two columns of one name, a key column that does not exist, is not atomic or is
            named twice, a primary key without the partition columns and a fixed number of buckets.
        OptionError: see ``CoreOptions.parse``.
    """
    primary_keys, partition_keys, options = tuple(primary_keys), tuple(partition_keys), dict(options or {})
    check_names([name for name, _, _ in columns])
    for name, kind, _ in columns:
        refuse_equal_fields(name, kind)
        refuse_nanoseconds(name, kind)
    names = Names(name for name, _, _ in columns)
    primary_keys = _keys_of("columns of the primary key", LayoutOptions.primary_key, primary_keys, options, names)
    partition_keys = _keys_of("partition columns", LayoutOptions.partition, partition_keys, options, names)
    keyed = bool(primary_keys)
    if keyed and "bucket" not in options:
        crosses_partitions = not set(partition_keys) <= set(primary_keys)
        options["bucket"] = "-1" if crosses_partitions else str(default_buckets)
    dynamic = "bucket" in options and LayoutOptions.bucket.parse(options["bucket"]) < 0
    _check_keys(columns, primary_keys, partition_keys, dynamic=dynamic)
    if any(isinstance(kind, AtomicType) and kind.root in _RENAMED_PARTITIONS
           for name, kind, _ in columns if name in partition_keys):  # fmt: skip
        options.setdefault("partition.legacy-name", "false")
    parsed = CoreOptions.parse(options, keyed=keyed)
    _check_options(parsed, [name for name, _, _ in columns], primary_keys, partition_keys)
    fields = _number([(name, kind.as_nullable(kind.nullable and name not in primary_keys), text)
                      for name, kind, text in columns])  # fmt: skip
    highest = max(one.id for each in fields for one in (each, *nested_fields(each.type)))
    check_formats(parsed, fields)
    merge_engine_of(fields, primary_keys, parsed, partition_keys)
    indexed_columns(parsed, fields)
    created = TableSchema(0, fields, highest, partition_keys, primary_keys, options, comment, time_millis)
    check_vectors_written(created)
    return created


def with_defaults(fields: Sequence[DataField], defaults: Mapping[str, str | None]) -> list[DataField]:
    """The columns with these default values, as the schema keeps them, by name.

    Raises:
        ColumnNotFound: a column that does not exist.
    """
    found, names = list(fields), Names(one.name for one in fields)
    for name, text in defaults.items():
        at = names.position(name)
        if at is None:
            hint = did_you_mean(name, [one.name for one in found])
            raise ColumnNotFound(f"Column '{name}' does not exist.", hint=hint)
        found[at] = replace(found[at], default_value=text)
    return found


def check_names(names: Sequence[str]) -> None:
    """Raise a SchemaError unless there are names, all usable and different."""
    if not names:
        raise SchemaError("A table needs at least one column.")
    seen: set[str] = set()
    for name in names:
        if not name.strip():
            raise SchemaError("A column needs a name.")
        if is_system_name(name):
            raise SchemaError(f"The column name '{name}' is reserved.", hint="Choose another name.")
        if name in seen:
            raise SchemaError(f"Two columns are named '{name}'.")
        seen.add(name)


def _keys_of(
    what: str,
    option: Option[tuple[str, ...]],
    given: tuple[str, ...],
    options: dict[str, str],
    names: Names,
) -> tuple[str, ...]:
    named = option.parse(options.pop(option.key, ""))
    if given and named and given != named:
        raise SchemaError(f"The {what} are given twice: {', '.join(given)} and, as an option, {', '.join(named)}.")
    keys = []
    for name in given or named:
        found = names.find(name)
        if found is None:
            raise SchemaError(f"The {what} name '{name}', which is not a column.", hint=did_you_mean(name, [*names]))
        keys.append(found)
    if len(set(keys)) < len(keys):
        raise SchemaError(f"The {what} name a column twice: {', '.join(keys)}.")
    return tuple(keys)


def _check_keys(
    columns: Sequence[Column],
    primary_keys: tuple[str, ...],
    partition_keys: tuple[str, ...],
    *,
    dynamic: bool,
) -> None:
    for name, kind, _ in columns:
        if name in (*primary_keys, *partition_keys) and not kind.is_atomic:
            raise SchemaError(f"Column '{name}' has type {kind}, which cannot be part of a key or partition.")
        if name in partition_keys and isinstance(kind, AtomicType) and kind.root in BINARY_ROOTS:
            raise SchemaError(f"Column '{name}' has type {kind}, which cannot name a partition.")
    missing = [name for name in partition_keys if name not in primary_keys]
    if primary_keys and missing and not dynamic:
        raise SchemaError(
            f"With a fixed number of buckets, the primary key ({', '.join(primary_keys)}) must contain all partition "
            f"columns; {', '.join(missing)} is missing.",
            hint=f"Use PRIMARY KEY ({', '.join((*missing, *primary_keys))}), partition by columns of the key, or set "
            "'bucket' = '-1' (the default of such a key), under which a key may move to another partition.",
        )
    if primary_keys and set(primary_keys) <= set(partition_keys):
        raise SchemaError(
            f"The primary key ({', '.join(primary_keys)}) is the partition itself: each partition would hold one row."
        )
    if len(partition_keys) == len(columns):
        raise SchemaError("A table needs at least one column besides the partition columns.")


def check_ignored(options: CoreOptions, columns: Sequence[str]) -> None:
    """Raise OptionError where changes of something else than columns are to be ignored: they would be recorded."""
    key = ChangelogOptions.row_deduplicate_ignore_fields.key
    _check_named(key, options.row_deduplicate_ignore_fields, columns)


def _check_named(key: str, names: Sequence[str], columns: Sequence[str]) -> None:
    for name in names:
        if name not in columns:
            raise OptionError(
                f"Option '{key}' names '{name}', which is not a column.", hint=did_you_mean(name, columns)
            )
    if len(set(names)) < len(names):
        raise OptionError(f"Option '{key}' names a column twice: {', '.join(names)}.", hint="Name it once.")


def _check_options(
    options: CoreOptions,
    columns: Sequence[str],
    primary_keys: tuple[str, ...],
    partition_keys: tuple[str, ...],
) -> None:
    _check_named("bucket-key", options.bucket_key, columns)
    _check_named("sequence.field", options.sequence_field, columns)
    check_ignored(options, columns)
    for name in options.bucket_key:
        if name in partition_keys or (primary_keys and name not in primary_keys):
            allowed = [one for one in primary_keys or columns if one not in partition_keys]
            raise OptionError(f"Option 'bucket-key' cannot name '{name}'.", hint=f"It can name: {', '.join(allowed)}.")
    check_expiration(options, partition_keys)
    check_values_of_levels(options)
    check_producer(options, keyed=bool(primary_keys))
    if options.sequence_field and primary_keys and not set(partition_keys) <= set(primary_keys):
        raise OptionError(
            "Option 'sequence.field' is not supported with a primary key that leaves a "
            "partition column out: which of two rows "
            "in different partitions is the newer one would not be known.",
            hint="Add the partition columns to the primary key, or leave the option out.",
        )
    if options.sequence_field and not primary_keys:
        raise OptionError("Option 'sequence.field' needs a primary key.")
    if options.bucket > 0 and not primary_keys and not options.bucket_key:
        raise OptionError("A table without a primary key needs the option 'bucket-key' when 'bucket' is set.")
    if options.bucket < 0 and options.bucket_key:
        raise OptionError("Option 'bucket-key' needs the option 'bucket'.", hint="For example 'bucket' = '4'.")


def check_producer(options: CoreOptions, *, keyed: bool) -> None:
    """Raise an OptionError for a table without a key that is to write changelogs."""
    if options.changelog_producer != "none" and not keyed:
        raise OptionError(
            f"Option 'changelog-producer' = '{options.changelog_producer}' needs a primary key.",
            hint="Leave it out: the changes of a table without a key are read by table_changes(…).",
        )


def check_formats(options: CoreOptions, fields: Iterable[DataField]) -> None:
    """Raise an error for a column that data files of the table, of any level, cannot hold; see `check_format`."""
    for file_format in {options.file_format, *dict(options.file_format_per_level).values()}:
        for one in fields:
            check_format(one.name, one.type, file_format)


_CODECS = FileOptions.file_compression.choices


def check_values_of_levels(options: CoreOptions) -> None:
    """Raise an OptionError for a compression or a file format of a level that is none."""
    for by_level, found, choices in (
        (FileOptions.file_compression_per_level, options.file_compression_per_level, _CODECS),
        (FileOptions.file_format_per_level, options.file_format_per_level, FileOptions.file_format.choices),
    ):
        for level, value in found:
            if value not in choices:
                accepted = ", ".join(choices)
                raise OptionError(
                    f"Option '{by_level.key}' cannot be '{level}:{value}': one of {accepted} is expected."
                )


def _number(columns: Sequence[Column]) -> tuple[DataField, ...]:
    ids = count()
    fields = []
    for name, kind, text in columns:
        number = next(ids)
        fields.append(DataField(number, name, assign_field_ids(kind, lambda: next(ids)), text))
    return tuple(fields)
