"""Which files of a bucket a predicate lets a scan skip, by their statistics and their file indexes.

A file of a keyed table whose records are merged with those of others is skipped only by its key, or with all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain

from tablestore_engine.metadata.binary_row import decode_column
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan, sections_of
from tablestore_engine.operation.scan.stats_may_match import Bounds, ColumnBounds, buckets_for, each_may_match
from tablestore_engine.schema.casts.cast_bounds import cast_bound, keeps_order, null_count_after
from tablestore_engine.schema.casts.cast_old_columns import is_same
from tablestore_engine.schema.table.predicate import OPPOSITES, Compare, IsNull, Or, Predicate, columns_of
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
    chosen: dict[int, set[int] | None] = {}
    scans = []
    for scan in buckets:
        if scan.total_buckets not in chosen:
            chosen[scan.total_buckets] = buckets_for(predicate, schema, scan.total_buckets)
        wanted = chosen[scan.total_buckets]
        if wanted is None or scan.bucket in wanted or not hashed_as_today(scan, schema, schemas):
            scans.append(scan)
    if predicate is None:
        return tuple(scan for scan in scans if scan.files)
    return tuple(
        scan if len(files) == len(scan.files) else replace(scan, files=tuple(files), pruned=True)
        for scan, files in zip(scans, _skip_files(scans, schema, predicate, schemas, indexes), strict=True)
        if files
    )


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
    scans: Sequence[BucketScan],
    schema: TableSchema,
    predicate: Predicate,
    schemas: Callable[[int], TableSchema] | None,
    indexes: IndexTest,
) -> Iterable[Sequence[DataFileMeta]]:
    """The remaining files of each bucket."""

    def matching(files: Sequence[Sequence[DataFileMeta]], only: frozenset[str] | None) -> list[list[DataFileMeta]]:
        answers = iter(files_may_match(list(chain.from_iterable(files)), predicate, schema, schemas, only))
        return [
            [file for file in own if next(answers) and indexes(scan, file, only)]
            for scan, own in zip(scans, files, strict=True)
        ]

    files = [scan.files for scan in scans]
    keys = frozenset(schema.primary_keys)
    if not keys:
        return matching(files, None)
    by_key = matching(files, keys)
    if all(schema.has_field(name) and schema.field(name).name in keys for name in columns_of(predicate)):
        return by_key
    return map(partial(_with_their_sections, schema), by_key, matching(by_key, None))


def _with_their_sections(
    schema: TableSchema, files: Sequence[DataFileMeta], matching: Sequence[DataFileMeta]
) -> list[DataFileMeta]:
    """Those files of a bucket that are merged with matching ones."""
    names = {file.file_name for file in matching}
    # A fold makes values that no file holds, also from retractions with nothing to take back.
    engine = schema.merge_engine
    return [
        f
        for section in sections_of(files, schema)
        if (engine.folds and section.needs_merge)
        or (engine.settles_retractions and any(f.delete_row_count != 0 for f in section.files))
        or any(f.file_name in names for f in section.files)
        for f in section.files
    ]


def files_may_match(
    files: Sequence[DataFileMeta],
    predicate: Predicate,
    schema: TableSchema,
    schemas: Callable[[int], TableSchema] | None,
    only: frozenset[str] | None = None,
) -> list[bool]:
    """Of each file, whether some row of it may satisfy a predicate, by its statistics; `only` those of some columns.

    Files that were written alike are decided together, column by column: one by one, they would take ten times as long.
    """
    alike: dict[Hashable, list[int]] = {}
    for at, file in enumerate(files):
        alike.setdefault(_written(file), []).append(at)
    if len(alike) == 1:
        return each_may_match(predicate, len(files), AlikeFiles(files, schema, schemas).of(only))
    answers = [True] * len(files)
    for members in alike.values():
        bounds = AlikeFiles([files[at] for at in members], schema, schemas).of(only)
        for at, answer in zip(members, each_may_match(predicate, len(members), bounds), strict=True):
            answers[at] = answer
    return answers


def _written(file: DataFileMeta) -> Hashable:
    """The same for files that have statistics of the same columns, in one order."""
    stats = file.value_stats
    columns = (file.schema_id, file.value_stats_cols, file.write_cols)
    return (*columns, bool(stats.min_values), len(stats.null_counts))


def certain_rows(plan: ScanPlan, predicate: Compare, schemas: Callable[[int], TableSchema]) -> int:
    """At least how many rows of a plan a comparison is true for, by the statistics of those files whose rows are merged
    with no others, and of which no row is deleted."""
    opposite = OPPOSITES.get(predicate.op)
    if opposite is None:
        return 0
    if plan.schema.primary_keys:
        alone = ((bucket, section) for bucket, section in plan.sections if not section.needs_merge)
        stored = ((bucket, file) for bucket, section in alone for file in section.files)
    else:
        stored = ((bucket, file) for bucket in plan.buckets for file in bucket.files)
    whole = [file for bucket, file in stored if file.delete_row_count == 0 and file.file_name not in bucket.deletions]
    other_rows = Or((IsNull(predicate.column), Compare(predicate.column, opposite, predicate.value)))
    doubt = files_may_match(whole, other_rows, plan.schema, schemas)
    return sum(file.row_count for file, may_match in zip(whole, doubt, strict=True) if not may_match)


def null_counts(
    files: Iterable[DataFileMeta], schema: TableSchema, schemas: Callable[[int], TableSchema] | None, column: str
) -> Iterator[int | None]:
    """How many values of a column are null in each file, without a look at its bounds; None where that is not known, or
    where the column had another type."""
    positions: dict[Hashable, int | None] = {}
    for file in files:
        written = _written(file)
        if written not in positions:
            positions[written] = AlikeFiles([file], schema, schemas).position(column)
        at = positions[written]
        yield None if at is None else file.value_stats.null_counts[at]


class AlikeFiles:
    """Statistics of files that were written alike, by the current schema's column names, matched to the schema of the
    files by id."""

    def __init__(
        self, files: Sequence[DataFileMeta], schema: TableSchema, schemas: Callable[[int], TableSchema] | None
    ) -> None:
        self._files = files
        self._schema = schema
        number = files[0].schema_id
        self._own = schemas(number) if schemas and number != schema.id else schema
        self._known: dict[int, tuple[DataType, ColumnBounds] | None] = {}

    @cached_property
    def _fields(self) -> tuple[DataField, ...]:
        """The columns of the files that have statistics; none if there are statistics of others."""
        file, own = self._files[0], self._own
        names = file.value_stats_cols
        fields = own.fields if names is None else tuple(own.field(n) for n in names)
        if file.write_cols is not None and names is None:
            fields = tuple(own.field(n) for n in file.write_cols if own.has_field(n))
        known = file.value_stats.min_values and len(file.value_stats.null_counts) == len(fields)
        return fields if known else ()

    def position(self, column: str) -> int | None:
        """At which position the statistics have a column; None where they do not, or where it had another type."""
        now = self._schema.field(column)
        at = self._position_of(now)
        if at is None or self._fields[at].type != now.type.as_nullable(self._fields[at].type.nullable):
            return None
        return at

    def _position_of(self, field: DataField) -> int | None:
        return next((at for at, one in enumerate(self._fields) if one.id == field.id), None)

    def of(self, only: frozenset[str] | None) -> Callable[[str], tuple[DataType, ColumnBounds] | None]:
        """Bounds by column name; `only` restricts to these columns."""

        def lookup(column: str) -> tuple[DataType, ColumnBounds] | None:
            field = self._schema.field(column) if self._schema.has_field(column) else None
            if field is None or (only is not None and field.name not in only):
                return None
            if field.id not in self._known:
                self._known[field.id] = self._bounds(field)
            return self._known[field.id]

        return lookup

    def _bounds(self, field: DataField) -> tuple[DataType, ColumnBounds] | None:
        """The type and bounds of a column of today; None where the files have none."""
        rows = [file.row_count for file in self._files]
        if all(own.id != field.id for own in self._own.fields):
            # Added after the files were written: every row reads null.
            nothing = [None] * len(rows)
            return field.type, ColumnBounds(nothing, nothing, rows, rows)
        at = self._position_of(field)
        if at is None:
            return None
        past, stats = self._fields[at].type, [file.value_stats for file in self._files]
        known = ColumnBounds(
            decode_column([one.min_values for one in stats], at, past),
            decode_column([one.max_values for one in stats], at, past),
            [one.null_counts[at] for one in stats],
            rows,
        )
        return field.type, known if is_same(past, field.type) else self._evolved(past, field.type, known)

    def _evolved(self, past: DataType, now: DataType, known: ColumnBounds) -> ColumnBounds:
        """Bounds of the type of then as those of the present one."""
        rules, rows = self._schema.cast_rules, known.row_counts
        nulls = [null_count_after(past, now, rules, *pair) for pair in zip(known.null_counts, rows, strict=True)]
        if not keeps_order(past, now, rules.zone):
            nothing = [None] * len(rows)
            return ColumnBounds(nothing, nothing, nulls, rows)
        low, high = (
            [None if one is None else cast_bound(one, now) for one in bounds] for bounds in (known.minima, known.maxima)
        )
        return ColumnBounds(low, high, nulls, rows)


class FileBounds:
    """Statistics of one file, as `AlikeFiles` has those of many."""

    def __init__(self, file: DataFileMeta, schema: TableSchema, schemas: Callable[[int], TableSchema] | None) -> None:
        self._alike = AlikeFiles([file], schema, schemas)

    def of(self, only: frozenset[str] | None) -> Callable[[str], tuple[DataType, Bounds] | None]:
        """Bounds by column name; `only` restricts to these columns."""
        of_columns = self._alike.of(only)

        def lookup(column: str) -> tuple[DataType, Bounds] | None:
            found = of_columns(column)
            if found is None:
                return None
            low, high, nulls, rows = (values[0] for values in found[1])
            return found[0], Bounds(low, high, nulls, rows)

        return lookup
