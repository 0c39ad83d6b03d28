"""The rows of a large keyed table that a query joins with a small table, or with few changes: they are looked up by the
values of these.

All are read at the snapshots of the statement. Where the keys are so many that most pages of the large table
may hold one, the rows are too many to hold, or the large table is cached, Spark joins the tables as in any query.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.formats import parquet_file
from tablestore_engine.operation.read.arrow_read import output_schema, read_rows
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.table.predicate import conjunction
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import has_root
from tablestore_engine.spark.expressions.spark_types import to_spark_schema
from tablestore_engine.spark.read.lookup_rows import (
    MOST_KEYS,
    frame_of_rows,
    keys_among,
    lookup_columns,
    predicates_of,
    rows_of_keys,
)
from tablestore_engine.spark.read.merge_source_bounds import comparable_fields, is_large
from tablestore_engine.sql.pinned_queries.table_frames import TableRead, state_of
from tablestore_engine.sql.query.bind import TableReference
from tablestore_engine.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BLANKS = frozenset(["CHAR"])
_PAGES = 2  # so many pages of the large table are there for each key at least


@dataclass(frozen=True)
class JoinedSource:
    """The rows of a table, or changes of it, of which other rows have the values: `count` rows that depend on `state`,
    of which `rows` gives some columns."""

    table: Table
    state: Hashable
    count: int
    rows: Callable[[list[str]], pa.Table]


SourceOf = Callable[[TableReference], "JoinedSource | None"]
"""The source that a reference reads, at the snapshots of the statement; None for anything else."""


_failed: Final[RecentlyUsed[Hashable, None]] = RecentlyUsed(256)
"""The lookups that were given up, each for a state of both tables."""


def source_of_rows(table: Table, snapshot: Snapshot | None) -> JoinedSource | None:
    """The rows of a table; None for one without rows."""
    if snapshot is None or not snapshot.total_record_count:
        return None

    def rows(names: list[str]) -> pa.Table:
        batches = read_rows(table.state, table.scan(snapshot), tuple(names))
        return pa.Table.from_batches(batches, output_schema(table.schema, tuple(names)))

    return JoinedSource(table, state_of(table, snapshot, table.schema), snapshot.total_record_count, rows)


def joined_rows(spark: SparkSession, read: TableRead, source_of: SourceOf) -> tuple[DataFrame, int] | None:
    """The rows of a table that a query joins with others, and their bytes; None if they are not looked up."""
    snapshot, reference = read.snapshot, read.reference
    hidden = reference.hidden or reference.options or computed_columns(read.schema.options)
    if snapshot is None or hidden or not _looks_up(read.schema):
        return None
    most = min(MOST_KEYS, snapshot.total_record_count // (_PAGES * parquet_file.PAGE_ROWS))
    for other, pairs in reference.joined:
        if other.changes and not is_large(read.plan()):
            continue  # they need not be computed yet
        source = source_of(other)
        if source is None or source.count > most:
            continue
        states = (state_of(read.table, snapshot, read.schema), source.state)
        lookup = (*states, pairs, repr(read.predicate), reference.columns)
        if lookup in _failed or not is_large(read.plan()) or read.cached_frame(spark) is not None:
            continue
        keys = _keys_of(source, read.schema, list(pairs))
        found = None if keys is None else _looked_up(read, keys)
        if found is not None:
            return frame_of_rows(spark, found, read.schema), found.nbytes
        _failed.put(lookup, None)  # else each such statement reads the rows again, and then Spark does
    return None


def _looks_up(schema: TableSchema) -> bool:
    """Whether a table has the newest record of each key, in one bucket."""
    newest = schema.merge_engine.rules.kept is Kept.NEWEST
    return bool(schema.primary_keys) and newest and not schema.crosses_partitions and not schema.names.alike


def _keys_of(source: JoinedSource, schema: TableSchema, pairs: list[tuple[str, str]]) -> RowKeys | None:
    """The values that rows of a table have for columns of the key; None where Spark would compare others."""
    own = source.table.schema
    if own.names.alike:
        return None
    fields = {f.name.lower(): f for f in own.fields}
    known = [(name, column) for name, column in pairs if schema.has_field(name) and column.lower() in fields]
    alike = comparable_fields(known, schema, to_spark_schema(own.fields))
    by_key = lookup_columns(alike, schema)
    if not by_key or any(has_root(fields[column.lower()].type, _BLANKS) for _, column in by_key):
        return None
    return keys_among(source.rows(list(dict.fromkeys(column for _, column in by_key))), by_key, schema)


def _looked_up(read: TableRead, keys: RowKeys) -> pa.Table | None:
    known = [one for one in (read.predicate, *predicates_of(keys)) if one is not None]
    plan = read.table.scan(read.snapshot, conjunction(known), schema=read.schema)
    wanted = read.reference.columns
    names = [n for n in read.schema.field_names if wanted is None or n.lower() in wanted]
    return rows_of_keys(read.table, plan, keys, names or list(keys.names))
