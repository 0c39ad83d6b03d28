"""Merge-on-read as SQL over Spark's own Parquet scans: no row crosses into Python.

With B the oldest run of the sections that need merging and U the runs above it:

    single-run files  ∪  (B anti-join keys(U))  ∪  newest(U)

When a row of B may beat one of U (a user's sequence field, or sequence numbers that overlap), `newest` also takes the
rows of B that share a key with U. Spark sees plain scans, so column pruning, filter push-down and vectorised reading
stay its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from tablestore_engine.mergetree.compaction.sections import Section
from tablestore_engine.metadata.bitmaps.roaring import Positions
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.read.superseded_rows import superseded_rows
from tablestore_engine.operation.scan.file_skipping import FileBounds
from tablestore_engine.operation.scan.key_lookup import keys_of, matching_keys
from tablestore_engine.operation.scan.scan_plan import BucketScan, ScanPlan
from tablestore_engine.schema.merge_engines.engine_rules import Kept, Retraction
from tablestore_engine.schema.table.predicate import Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import KEY_PREFIX, RECORD_COLUMNS, SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.schema.types.types import STRING_ROOTS, has_root
from tablestore_engine.spark.expressions.char_text import typed
from tablestore_engine.spark.expressions.format_braces import formatted
from tablestore_engine.spark.folds.fold_sql import Records, check_theta, fold_sql, needs_session
from tablestore_engine.spark.folds.late_records_sql import effect_columns, in_positions_sql, with_effects_sql
from tablestore_engine.spark.folds.sequence_group_deletes_sql import apply_group_deletes_sql, without_idle_sql
from tablestore_engine.spark.folds.session_folds import register_session_folds
from tablestore_engine.spark.queries.collect import arrow_frame
from tablestore_engine.spark.read.changed_keys import (
    BROADCAST_ROWS,
    BlockedKeys,
    ChangedKeys,
    JoinedKeys,
    MergingFiles,
    constant_keys,
    merging_files,
)
from tablestore_engine.spark.read.join_key import KeyRanges, join_keys, key_blocks
from tablestore_engine.spark.read.key_blocks import WORTH_ROWS
from tablestore_engine.spark.read.multiset_reader import multiset_frame
from tablestore_engine.spark.scan.arrow_scan import FILE_COLUMN, POSITIONS
from tablestore_engine.spark.scan.file_scan import BucketFile, FileScans
from tablestore_engine.table import Table

ALIVE = f"{VALUE_KIND.name} IN (0Y, 2Y)"
"""SQL of whether a record is none that takes back."""
_DIRECTORY = "__tablestore_directory"
_FEW_FILES, _FEW_BYTES, _ALL_PARTITIONS = 4, 1 << 20, 1 << 20


def read_table(
    spark: SparkSession,
    table: Table,
    snapshot: Snapshot | None = None,
    predicate: Predicate | None = None,
    *,
    schema: TableSchema | None = None,
) -> DataFrame:
    """The rows of one snapshot (default: the latest). `predicate` prunes what is read, and does not filter the rows."""
    table.options.check_readable()
    return read_plan(spark, table, table.scan(snapshot, predicate, schema=schema), predicate)


def read_plan(
    spark: SparkSession,
    table: Table,
    plan: ScanPlan,
    predicate: Predicate | None = None,
    named: frozenset[str] | None = None,
    *,
    correlated: frozenset[str] | None = None,
    filtered: frozenset[str] | None = None,
) -> DataFrame:
    """The merged rows of a scan plan. Rows that fail the `predicate` may be missing or out of date. `named` and
    `filtered`: see `FileScans`. `correlated`: the names of fields, where the query has subqueries that may name columns
    of the table: Spark cannot plan these over every shape of a read."""
    reader = TableReader(spark, table, plan, predicate, named, correlated=correlated, filtered=filtered)
    frame = typed(reader.frame(), plan.schema)
    # In one partition, few rows are sorted and grouped without a shuffle: in one Spark job instead of three.
    if 0 < len(plan.files) <= _FEW_FILES and plan.file_size <= _FEW_BYTES:
        return frame.coalesce(1)
    # Spark fails when it pushes a subquery of a SELECT list into the parts of a union (SPARK-59042), which it does not
    # do through this. The partitions stay as they are.
    return frame.coalesce(_ALL_PARTITIONS) if correlated is not None and reader.unites else frame


class TableReader:
    """One read of a scan plan."""

    def __init__(
        self,
        spark: SparkSession,
        table: Table,
        plan: ScanPlan,
        predicate: Predicate | None,
        named: frozenset[str] | None = None,
        *,
        correlated: frozenset[str] | None = None,
        filtered: frozenset[str] | None = None,
    ) -> None:
        self._spark = spark
        self._table = table
        self._schema = plan.schema
        self._plan = plan
        self._predicate = predicate
        self._scans = FileScans(spark, table, plan.schema, named, filtered=filtered)
        # Spark loses nested fields of which subqueries speak, where it pushes these into joins.
        self._joins = plan.schema.nested_names.isdisjoint(correlated or ())
        self.unites = False
        """Whether the frame is a union."""

    def frame(self) -> DataFrame:
        if not self._schema.primary_keys:
            frame = multiset_frame(self._scans, self._plan, self._predicate)
            self.unites = self._scans.unites or self._schema.merge_engine.rules.is_multiset
            return frame
        single: list[BucketFile] = []
        unsettled: list[BucketFile] = []
        merging: list[tuple[BucketScan, Section]] = []
        across_partitions = self._schema.crosses_partitions
        settles = self._schema.merge_engine.settles_retractions
        for bucket, section in self._plan.sections:
            retracts = settles and any(f.delete_row_count != 0 for f in section.runs[-1].files)
            if retracts and not across_partitions:
                unsettled.extend((bucket, file) for file in section.files)
            elif section.needs_merge or retracts:
                merging.append((bucket, section))
            else:
                single.extend((bucket, file) for file in section.files)
        merge = merging_files(merging) if merging else None
        if merge and across_partitions:
            self.unites = True
            return reduce(DataFrame.unionAll, [*self._unmerged(single), self._merged_at_once(merge)])
        changed = self._changed(merge, merging) if merge else None
        if merge and changed is None:
            # No row of the newer runs is asked for.
            single.extend(merge.bottom)
        if merge is None or changed is None:
            parts = self._unmerged(single)
        elif isinstance(changed, Mapping):
            parts = self._without(changed, single, [*merge.bottom, *merge.upper])
        elif self._joins:
            self.unites = True
            parts = [*self._unmerged(single), self._merged(merge, changed)]
        else:
            parts = [*self._unmerged(single), self._merged_at_once(merge)]
        if unsettled:
            # Retractions with nothing below that they could be looked up in: all records are folded.
            rows = f"SELECT {self._with_system('u')} FROM {{rows}} u"
            frame = self._scans.scan(unsettled, RECORD_COLUMNS)
            parts.append(self._sql(self._folded(rows, retractions=True), rows=frame))
        self.unites = self.unites or self._scans.unites or len(parts) > 1
        return reduce(DataFrame.unionAll, parts) if parts else self._scans.empty()

    def _unmerged(self, files: list[BucketFile]) -> list[DataFrame]:
        parts = []
        plain = [one for one in files if one[1].delete_row_count == 0]
        with_deletes = [one for one in files if one[1].delete_row_count != 0]
        if plain:
            parts.append(self._scans.scan(plain))
        if with_deletes:
            rows = self._scans.scan(with_deletes, RECORD_COLUMNS)
            parts.append(self._sql(f"SELECT {self._columns} FROM {{rows}} WHERE {ALIVE}", rows=rows))
        return parts

    def _without(
        self, superseded: Mapping[str, Positions], single: list[BucketFile], merging: list[BucketFile]
    ) -> list[DataFrame]:
        """The rows of files, of merging ones without superseded ones: as few scans as there can be, and no join."""
        scans = FileScans(self._spark, self._table, self._schema, left_out=superseded)
        plain = [one for one in single if one[1].delete_row_count == 0]
        rest = self._unmerged([one for one in single if one[1].delete_row_count != 0])
        frame = scans.scan([*plain, *merging])
        self.unites = scans.unites
        return [frame, *rest]

    def _changed(
        self, merge: MergingFiles, merging: list[tuple[BucketScan, Section]]
    ) -> ChangedKeys | Mapping[str, Positions] | None:
        """The keys that the newer runs hold, or the positions of rows that they supersede (`superseded_rows`); None
        when the predicate leaves none of them."""
        keys = matching_keys(self._table.state.with_schema(self._schema), merge.upper, self._predicate)
        if keys is not None and keys.num_rows == 0:
            return None
        few = constant_keys(keys) if keys is not None else None
        if few is not None:
            return few
        if merge.upper_is_newer:
            superseded = superseded_rows(self._table.state, self._schema, merging)
            if superseded is not None:
                return superseded
        ranges = self._key_ranges([*merge.bottom, *merge.upper])
        return (self._blocked(merge, ranges, keys) if self._joins else None) or JoinedKeys(
            join_keys(self._schema.primary_keys, ranges),
            broadcast=merge.upper_rows <= BROADCAST_ROWS,
        )

    def _key_ranges(self, files: list[BucketFile]) -> KeyRanges | None:
        schema, load = self._schema, self._table.schemas.load
        bounds = (FileBounds(f, schema, load) for _, f in files)
        return KeyRanges.of([schema.field(name) for name in schema.primary_keys], bounds)

    def _blocked(self, merge: MergingFiles, ranges: KeyRanges | None, keys: pa.Table | None) -> BlockedKeys | None:
        """The keys by block, where the run that looks them up is large enough for reading them here.

        `keys` are those that the predicate left, when it was worth reading them for it.
        """
        if ranges is None or sum(f.row_count for _, f in merge.bottom) < WORTH_ROWS:
            return None
        if keys is None:
            keys = keys_of(self._table.state.with_schema(self._schema), merge.upper)
        blocks = key_blocks(ranges, keys) if keys is not None else None
        if blocks is None:
            return None
        return BlockedKeys(blocks, {"blocks": arrow_frame(self._spark, blocks.table)})

    def _merged(self, merge: MergingFiles, changed: ChangedKeys) -> DataFrame:
        engine = self._schema.merge_engine
        newest_wins = (
            engine.rules.kept is Kept.NEWEST and merge.upper_is_newer and not self._schema.core_options.sequence_field
        )
        deletes = any(f.delete_row_count != 0 for _, f in merge.bottom)
        upper = self._scans.scan(merge.upper, RECORD_COLUMNS)
        bottom = self._scans.scan(merge.bottom, RECORD_COLUMNS if deletes or not newest_wins else ())
        untouched = changed.without(self._qualified("b"), where=f"b.{ALIVE}" if deletes else "true")
        if newest_wins and merge.one_upper_run:
            newest = f"SELECT {self._columns} FROM {{upper}}"
        elif newest_wins and merge.upper_runs_are_apart and not changed.are_few:
            newest = self._latest(merge)
        else:
            rows = f"SELECT {self._with_system('u')} FROM {{upper}} u"
            if not newest_wins:
                rows += f" UNION ALL {changed.only(self._with_system('b'))}"
            retracts = deletes or any(f.delete_row_count != 0 for _, f in merge.upper)
            whole = engine.rules.keeps_one_record
            newest = self._newest(rows) if whole else self._folded(rows, retractions=retracts)
        if engine.rules.kept is Kept.NEWEST:
            newest += f" WHERE {ALIVE}"
        return self._sql(f"{untouched} UNION ALL {newest}", bottom=bottom, upper=upper, **changed.frames)

    def _merged_at_once(self, merge: MergingFiles) -> DataFrame:
        """The rows of all keys without a join. Keys may have records in several partitions, and there in several
        buckets: each directory by itself."""
        across = self._schema.crosses_partitions
        rows = self._scans.scan([*merge.bottom, *merge.upper], RECORD_COLUMNS, POSITIONS if across else ())
        text = self._with_directory() if across else f"SELECT {self._with_system('f')} FROM {{rows}} f"
        engine = self._schema.merge_engine
        if engine.rules.keeps_one_record:
            newest = self._newest(text)
        else:
            retracts = any(f.delete_row_count != 0 for _, f in (*merge.bottom, *merge.upper))
            newest = self._folded(text, retractions=retracts)
        return self._sql(newest + (f" WHERE {ALIVE}" if engine.rules.kept is Kept.NEWEST else ""), rows=rows)

    def _with_directory(self) -> str:
        """Query for ``{rows}``, scanned with their positions, with the directory of each: its partition and bucket."""
        # The directory of the file is the partition and the bucket.
        directory = f"left({FILE_COLUMN}, length({FILE_COLUMN}) - locate('/', reverse({FILE_COLUMN})))"
        return f"SELECT {self._with_system('f')}, {directory} AS {_DIRECTORY} FROM {{rows}} f"

    @cached_property
    def _group(self) -> str:
        """The columns that the records of one row have in common. Null and '' are two partitions of one directory."""
        names = [*self._schema.primary_keys]
        if self._schema.crosses_partitions:
            names += [_DIRECTORY, *(f.name for f in self._schema.partition_fields if has_root(f.type, STRING_ROOTS))]
        return ", ".join(f"r.{formatted(name)}" for name in names)

    def _folded(self, rows: str, *, retractions: bool) -> str:
        """Query for the fold of the rows of each key."""
        engine = self._schema.merge_engine
        folded = self._fold_columns(retractions)
        columns = [f"{folded[f.name]} AS {formatted(f.name)}" for f in self._schema.fields]
        keys = self._group
        rows = self._in_positions(rows)
        if retractions and engine.removes_on_delete:
            rows = self._since_deletes(rows)
        if retractions and engine.removing_groups:
            rows = self._with_group_deletes(rows)
        if retractions and engine.rules.retraction is Retraction.AS_RECORD:
            rows = without_idle_sql(rows, self._group)
        if engine.late_groups:
            rows = with_effects_sql(rows, engine.late_groups, keys)
        # A key shows as soon as one of its records is no retraction.
        shows = f" HAVING bool_or(r.{ALIVE})" if retractions and engine.rules.retraction is Retraction.AS_RECORD else ""
        return f"SELECT {', '.join(columns)} FROM ({rows}) r GROUP BY {keys}{shows}"

    def _since_deletes(self, rows: str, *, with_last: bool = False) -> str:
        """Query for the rows after the last -D of their key, or `with_last` that -D where no row comes after it."""
        # The names are ones that no column may have.
        removed, last = f"{KEY_PREFIX}removed", f"{KEY_PREFIX}last"
        number, over = SEQUENCE_NUMBER.name, f"OVER (PARTITION BY {self._group})"
        deleted = f"max(CASE WHEN {VALUE_KIND.name} = 3Y THEN {number} END) {over} AS {removed}"
        kept = f"{removed} IS NULL OR {number} > {removed}"
        if with_last:
            deleted += f", max({number}) {over} AS {last}"
            kept += f" OR {number} = {last}"
        return f"SELECT * FROM (SELECT r.*, {deleted} FROM ({rows}) r) WHERE {kept}"

    def _in_positions(self, rows: str) -> str:
        """Query for the rows, numbered by their position where sequence fields order them and the folds need that."""
        if not self._by_position:
            return rows
        columns = f"r.{VALUE_KIND.name}, {self._qualified('r')}"
        return in_positions_sql(rows, self._schema, self._group, columns)

    @cached_property
    def _by_position(self) -> bool:
        return bool(self._schema.core_options.sequence_field) and self._schema.merge_engine.needs_positions

    def _with_group_deletes(self, rows: str) -> str:
        system = [SEQUENCE_NUMBER.name, VALUE_KIND.name]
        kept = [*system, _DIRECTORY] if self._schema.crosses_partitions else system
        return apply_group_deletes_sql(rows, self._schema, self._group, kept)

    def _latest(self, merge: MergingFiles) -> str:
        """Query for the records of the upper runs that no later one hides, where no two have the same number.

        Few keys are in several runs, and only these are looked up: taking the greatest record of every key would
        sort all rows, with all columns.
        """
        keys = join_keys(self._schema.primary_keys, self._key_ranges(merge.upper))
        parts = [(key("u"), f"__tablestore_key{i}") for i, key in enumerate(keys)]
        number, last = SEQUENCE_NUMBER.name, f"{KEY_PREFIX}last"
        several = (
            f"SELECT {', '.join(f'{key} AS {name}' for key, name in parts)}, max({number}) AS {last} FROM {{upper}} u"
            f" GROUP BY {', '.join(key for key, _ in parts)} HAVING count(*) > 1"
        )
        hint = "/*+ BROADCAST(s) */ " if merge.upper_rows <= BROADCAST_ROWS else ""
        on = " AND ".join(f"{key} = s.{name}" for key, name in parts)
        hidden = f"LEFT ANTI JOIN ({several}) s ON {on} AND u.{number} < s.{last}"
        return f"SELECT {hint}{self._qualified('u')} FROM {{upper}} u {hidden}"

    def _fold_columns(self, retractions: bool) -> dict[str, str]:
        """SQL of each column's fold over the records `r` of a key."""
        options = self._schema.core_options
        engine = self._schema.merge_engine
        folds = {fold.column: fold for fold in engine.folds}
        for fold in folds.values():
            if fold.function == "theta_sketch":
                check_theta(fold, self._spark.version)
            elif needs_session(fold, self._schema.field(fold.column)):
                register_session_folds(self._spark)
        records = Records("r", retractions, effects=effect_columns(engine.late_groups))
        if not self._by_position:
            records = replace(records, sequence=options.sequence_field, descending=options.sequence_field_descending)
        alive = f" AND bool_and(r.{ALIVE})" if retractions else ""
        columns = {}
        for f in self._schema.fields:
            column = f"r.{formatted(f.name)}"
            folded = fold_sql(folds[f.name], f, records) if f.name in folds else column
            if f.name in folds and engine.has_sequence_groups:
                # A key's only record stays as it is, even if it has no sequence.
                folded = f"CASE WHEN count(1) = 1{alive} THEN any_value({column}) ELSE {folded} END"
            columns[f.name] = folded
        return columns

    def _newest(self, rows: str) -> str:
        """Query for the row with the greatest sequence of each key, or the smallest where the first row stays."""
        options = self._schema.core_options
        descending = options.sequence_field_descending or self._schema.merge_engine.rules.kept is Kept.OLDEST
        number = SEQUENCE_NUMBER.name
        # A struct compares field by field with nulls first. Descending, the smallest is the best (but never a
        # null), and of equals still the latest written.
        order: list[str] = []
        for name in options.sequence_field:
            field = formatted(name)
            order += [f"{field} IS NULL", field] if descending else [field]
        if descending and order:
            number = f"-{number}"
        rank = f"struct({', '.join([*order, number])})"
        best = "min_by" if descending else "max_by"
        row = f"struct({self._with_system('r')})"
        picked = f"SELECT {best}({row}, {rank}) AS row FROM ({rows}) r GROUP BY {self._group}"
        return f"SELECT {self._columns} FROM (SELECT row.* FROM ({picked}))"

    @cached_property
    def _columns(self) -> str:
        return ", ".join(formatted(n) for n in self._schema.field_names)

    def _qualified(self, alias: str) -> str:
        return ", ".join(f"{alias}.{formatted(n)}" for n in self._schema.field_names)

    def _with_system(self, alias: str) -> str:
        return f"{alias}.{SEQUENCE_NUMBER.name}, {alias}.{VALUE_KIND.name}, {self._qualified(alias)}"

    def _sql(self, text: str, **frames: Any) -> DataFrame:
        return self._spark.sql(text, **frames)
