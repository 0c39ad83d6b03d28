"""Which files of a bucket a predicate lets a scan skip, by their statistics and their file indexes.

A file of a keyed table whose records are merged with those of others is skipped only by its key, or with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from tablestore_engine.metadata.binary_row import decode_value
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan, sections_of
from tablestore_engine.operation.scan.stats_may_match import Bounds, buckets_for, may_match
from tablestore_engine.schema.casts.cast_bounds import cast_bound, keeps_order, null_count_after
from tablestore_engine.schema.casts.cast_old_columns import is_same
from tablestore_engine.schema.table.predicate import OPPOSITES, Compare, Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField, DataType

IndexTest = Callable[[BucketScan, DataFileMeta, "frozenset[str] | None"], bool]
"""Whether a file of a bucket may match, by the indexes of some columns (lower case; None: of all)."""


def _in_doubt(scan: BucketScan, file: DataFileMeta, only: frozenset[str] | None) -> bool:
    return True


def skip_buckets(
    buckets: Iterable[BucketScan],
    schema: TableSchema,
    predicate: Predicate | None,
    schemas: Callable[[int], TableSchema] | None,
    indexes: IndexTest = _in_doubt,
) -> tuple[BucketScan, ...]:
    """The remaining files of buckets in wanted partitions. `indexes` asks the file indexes, after the statistics."""
    kept = []
    chosen: dict[int, set[int] | None] = {}
    for scan in buckets:
        if scan.total_buckets not in chosen:
            chosen[scan.total_buckets] = buckets_for(predicate, schema, scan.total_buckets)
        wanted = chosen[scan.total_buckets]
        if wanted is not None and scan.bucket not in wanted and hashed_as_today(scan, schema, schemas):
            continue
        files = _skip_files(scan, schema, predicate, schemas, indexes)
        if files:
            kept.append(scan if len(files) == len(scan.files) else replace(scan, files=tuple(files), pruned=True))
    return tuple(kept)


def hashed_as_today(scan: BucketScan, schema: TableSchema, schemas: Callable[[int], TableSchema] | None) -> bool:
    """Whether the rows of a bucket were put there by hashes of the present types of the bucket key."""
    if schemas is None:
        return True
    now = [(one.id, one.type.as_nullable(True)) for one in schema.bucket_fields]
    for number in {f.schema_id for f in scan.files} - {schema.id}:
        past = {one.id: one.type.as_nullable(True) for one in schemas(number).fields}
        if any(past.get(key) != kind for key, kind in now):
            return False
    return True


def _skip_files(
    scan: BucketScan,
    schema: TableSchema,
    predicate: Predicate | None,
    schemas: Callable[[int], TableSchema] | None,
    indexes: IndexTest,
) -> list[DataFileMeta]:
    if predicate is None:
        return list(scan.files)

    def matches(file: DataFileMeta, only: frozenset[str] | None) -> bool:
        by_statistics = may_match(predicate, FileBounds(file, schema, schemas).of(only))
        return by_statistics and indexes(scan, file, only)

    if not schema.primary_keys:
        return [f for f in scan.files if matches(f, None)]
    keys = frozenset(schema.primary_keys)
    files = [f for f in scan.files if matches(f, keys)]
    # A fold makes values that no file holds, also from retractions with nothing to take back.
    engine = schema.merge_engine
    return [
        f
        for section in sections_of(files, schema)
        if (engine.folds and section.needs_merge)
        or (engine.settles_retractions and any(f.delete_row_count != 0 for f in section.files))
        or any(matches(f, None) for f in section.files)
        for f in section.files
    ]


def certain_rows(plan: ScanPlan, predicate: Compare, schemas: Callable[[int], TableSchema]) -> int:
    """At least how many rows of a plan a comparison is true for, by the statistics of those files whose rows are merged
    with no others, and of which no row is deleted."""
    opposite = OPPOSITES.get(predicate.op)
    if opposite is None:
        return 0
    negated = Compare(predicate.column, opposite, predicate.value)

    def whole(bucket: BucketScan, file: DataFileMeta) -> bool:
        if file.delete_row_count != 0 or file.file_name in bucket.deletions:
            return False
        bounds = FileBounds(file, plan.schema, schemas).of(None)
        known = bounds(predicate.column)
        return known is not None and known[1].null_count == 0 and not may_match(negated, bounds)

    if plan.schema.primary_keys:
        alone = ((bucket, section) for bucket, section in plan.sections if not section.needs_merge)
        files = ((bucket, file) for bucket, section in alone for file in section.files)
    else:
        files = ((bucket, file) for bucket in plan.buckets for file in bucket.files)
    return sum(file.row_count for bucket, file in files if whole(bucket, file))


def null_counts(
    files: Iterable[DataFileMeta], schema: TableSchema, schemas: Callable[[int], TableSchema] | None, column: str
) -> Iterator[int | None]:
    """How many values of a column are null in each file, without a look at its bounds; None where that is not known, or
    where the column had another type."""
    positions: dict[tuple[object, ...], int | None] = {}  # files that were written alike have them alike
    for file in files:
        stats = file.value_stats
        written = (file.schema_id, file.value_stats_cols, file.write_cols)
        shape = (*written, bool(stats.min_values), len(stats.null_counts))
        if shape not in positions:
            positions[shape] = FileBounds(file, schema, schemas).position(column)
        at = positions[shape]
        yield None if at is None else stats.null_counts[at]


class FileBounds:
    """Statistics of one file by the current schema's column names, matched to the file's own schema by id."""

    def __init__(self, file: DataFileMeta, schema: TableSchema, schemas: Callable[[int], TableSchema] | None) -> None:
        self._file = file
        self._schema = schema
        self._own = schemas(file.schema_id) if schemas and file.schema_id != schema.id else schema

    @cached_property
    def _fields(self) -> tuple[DataField, ...]:
        """The columns of the file that have statistics; none if there are statistics of others."""
        file, own = self._file, self._own
        names = file.value_stats_cols
        fields = own.fields if names is None else tuple(own.field(n) for n in names)
        if file.write_cols is not None and names is None:
            fields = tuple(own.field(n) for n in file.write_cols if own.has_field(n))
        known = file.value_stats.min_values and len(file.value_stats.null_counts) == len(fields)
        return fields if known else ()

    def position(self, column: str) -> int | None:
        """At which position the statistics have a column; None where they do not, or where it had another type."""
        now = self._schema.field(column)
        at = next((i for i, field in enumerate(self._fields) if field.id == now.id), None)
        if at is None or self._fields[at].type != now.type.as_nullable(self._fields[at].type.nullable):
            return None
        return at

    def _stored(self, field_id: int) -> tuple[DataType, Bounds] | None:
        """The type and bounds of a column as the file has them; None where it has none."""
        stats = self._file.value_stats
        for at, field in enumerate(self._fields):
            if field.id == field_id:
                low, high = (decode_value(row, at, field.type) for row in (stats.min_values, stats.max_values))
                return field.type, Bounds(low, high, stats.null_counts[at], self._file.row_count)
        return None

    def of(self, only: frozenset[str] | None) -> Callable[[str], tuple[DataType, Bounds] | None]:
        """Bounds by column name; `only` restricts to these columns."""

        def lookup(column: str) -> tuple[DataType, Bounds] | None:
            field = self._schema.field(column) if self._schema.has_field(column) else None
            if field is None or (only is not None and field.name not in only):
                return None
            if all(own.id != field.id for own in self._own.fields):
                # Added after the file was written: every row reads null.
                return field.type, Bounds(None, None, self._file.row_count, self._file.row_count)
            found = self._stored(field.id)
            return None if found is None else self._evolved(field, *found)

        return lookup

    def _evolved(self, field: DataField, past: DataType, known: Bounds) -> tuple[DataType, Bounds] | None:
        """Bounds of the type of then as those of the present one."""
        if is_same(past, field.type):
            return field.type, known
        rules, rows = self._schema.cast_rules, self._file.row_count
        nulls = null_count_after(past, field.type, rules, known.null_count, rows)
        if not keeps_order(past, field.type, rules.zone):
            return field.type, Bounds(None, None, nulls, rows)
        low, high = (None if one is None else cast_bound(one, field.type) for one in (known.minimum, known.maximum))
        return field.type, Bounds(low, high, nulls, rows)
