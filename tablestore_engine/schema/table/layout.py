"""Schemas of the same columns in another layout: with another number of buckets, or under a primary key. Pure.

Such a schema *replaces* the current one (see `TableSchema.replaces`): it takes effect once a snapshot holds the rows in
that layout. Unlike CREATE OR REPLACE it keeps the ids of all columns.
"""

from __future__ import annotations

from dataclasses import replace

from tablestore_engine.errors import OptionError, PrimaryKeyError
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.table_schema import TableSchema

_BUCKET_OPTIONS = ("bucket", "bucket-key", "sequence.field")


def with_buckets(current: TableSchema, number: int, newest_id: int, time_millis: int) -> TableSchema:
    """The schema for `number` buckets of each partition (-1: dynamic); the current one if it has that number.

    Raises:
        OptionError: the table cannot have that number of buckets.
        SchemaError: its primary key leaves partition columns out, which needs dynamic buckets.
    """
    if number < 1 and number != -1:
        raise OptionError(
            f"A table cannot have {number} buckets: at least 1 is expected.",
            hint="-1 is for dynamic buckets." if current.is_keyed else None,
        )
    if not current.bucket_keys:
        raise OptionError(
            "A table without a key and without the option 'bucket-key' has no buckets to change.",
            hint="Add a primary key: ALTER TABLE … ADD PRIMARY KEY (…) NOT ENFORCED.",
        )
    if number == current.core_options.bucket:
        return current
    check_no_log(current)
    wanted = _created(current, current.primary_keys, {"bucket": str(number)}, 1)
    return _next(current, {"bucket": wanted.options["bucket"]}, newest_id, time_millis)


def check_no_log(current: TableSchema) -> None:
    """Raise an OptionError if the table has a log: with another number of buckets, messages of a key would be in two
    partitions, and readers would not know their order."""
    if current.core_options.log_system != "none":
        raise OptionError(
            "The number of buckets of a table with a log cannot be changed: its topic has a partition for each.",
            hint="Create a new table with it and copy the rows.",
        )


def with_primary_key(
    current: TableSchema, keys: tuple[str, ...], buckets: int, newest_id: int, time_millis: int
) -> TableSchema:
    """The schema under a primary key, with so many buckets unless its options already say.

    Raises:
        PrimaryKeyError: the table has one.
        SchemaError: the key names a column that does not exist, or lacks a partition column.
        OptionError: the options contradict the key.
    """
    if current.is_keyed:
        raise PrimaryKeyError(
            f"The table has a primary key already: ({', '.join(current.primary_keys)}).",
            hint="A primary key never changes; create another table.",
        )
    # Without a key, -1 meant that there are no buckets.
    given = {} if current.core_options.bucket == -1 else {"bucket": str(current.core_options.bucket)}
    created = _created(current, keys, given, buckets)
    key_names = set(created.primary_keys)
    made = _next(current, {"bucket": created.options["bucket"]}, newest_id, time_millis)
    fields = tuple(replace(f, type=f.type.as_nullable(False)) if f.name in key_names else f for f in current.fields)
    # A table without a key has a merge engine only as the mark of a multiset.
    options = {key: value for key, value in made.options.items() if key != "merge-engine"}
    return replace(made, fields=fields, primary_keys=created.primary_keys, options=options)


def _created(current: TableSchema, keys: tuple[str, ...], given: dict[str, str], buckets: int) -> TableSchema:
    """The schema that CREATE TABLE would give the columns; creating it checks that all parts fit each other."""
    bucket_options = {
        key: value for key, value in current.options.items() if key in _BUCKET_OPTIONS and key != "bucket"
    }
    columns = [(one.name, one.type, one.description) for one in current.fields]
    return create_schema(columns, keys, current.partition_keys, {**bucket_options, **given}, default_buckets=buckets)


def _next(current: TableSchema, options: dict[str, str], newest_id: int, time_millis: int) -> TableSchema:
    return replace(
        current,
        id=newest_id + 1,
        options={**current.options, **options},
        time_millis=time_millis,
        replaces=str(current.id),
        base=None,
    )
