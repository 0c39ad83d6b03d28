"""Whether an option of a table may be changed now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tablestore_engine.errors import OptionError
from tablestore_engine.options import CoreOptions, FileOptions, find_option, spellings
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.table.layout import check_no_log
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField

BUCKET_OPTIONS: Final = ("bucket", "bucket-key", "sequence.field", "merge-engine")


def check_mutable(schema: TableSchema, key: str, value: str | None, has_data: bool) -> None:
    """Raise an OptionError if an option cannot be set to a value (None: removed) on a table that may have data."""
    option = find_option(key)
    if option is None or not option.immutable:
        return
    if option.key == "bucket" and value is None and schema.is_keyed:
        raise OptionError("A table with a primary key needs the option 'bucket'.", hint="Set it to another number.")
    if option.key == "bucket" and _both_fixed(schema, value):
        check_no_log(schema)
        return  # each partition keeps its own number until it is rewritten
    columns = key[len("fields.") :].rpartition(".")[0] if option.is_pattern and key.startswith("fields.") else ""
    if columns and not any(schema.has_field(name.strip()) for name in columns.split(",")):
        return  # of a column that comes with this change
    set_by = next((one for one in (key, *spellings(key)) if one in schema.options), None)
    before = option.parse(schema.options[set_by], key) if set_by else option.default
    after = option.parse(value, key) if value is not None else option.default
    if option.key == "primary-key" and not schema.is_keyed:
        if has_data:
            raise OptionError(
                "The table has been written to, so its primary key is not set as an option.",
                hint="Use ALTER TABLE … ADD PRIMARY KEY (…) NOT ENFORCED, which rewrites the rows.",
            )
        return
    if option.key == FileOptions.deletion_vectors.key and after and not schema.is_keyed:
        return  # no row is deleted yet
    if before != after and option.key.startswith("log."):
        raise OptionError(
            f"Option '{key}' cannot be changed: the topic of a log is made with its table.",
            hint="Use CREATE OR REPLACE TABLE, or create a new table with it and copy the rows.",
        )
    if before != after and has_data:
        raise OptionError(
            f"Option '{key}' cannot be changed on a table that has data.",
            hint="Create a new table with it and copy the rows.",
        )
    if before != after and option.key in ("primary-key", "partition"):
        raise OptionError(f"Option '{key}' is set when a table is made.", hint="Use CREATE OR REPLACE TABLE.")


def check_bucket_options(
    fields: Sequence[DataField], primary_keys: Sequence[str], partition_keys: Sequence[str], options: Mapping[str, str]
) -> None:
    """Raise unless options about buckets and their order fit the columns, as in CREATE TABLE."""
    about_buckets = {key: value for key, value in options.items() if key in BUCKET_OPTIONS}
    columns = [(one.name, one.type, one.description) for one in fields]
    create_schema(columns, primary_keys, partition_keys, about_buckets)


def _both_fixed(schema: TableSchema, value: str | None) -> bool:
    return value is not None and schema.core_options.bucket > 0 and CoreOptions.parse({"bucket": value}).bucket > 0
