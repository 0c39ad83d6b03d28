"""Rolling writer: sorted Arrow batches of one (partition, bucket) in, data files and their metadata out.

Files roll at the target size. Nothing of the bucket is held but what an open file holds.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import StorageError
from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta, SimpleStats
from tablestore_engine.operation.files.file_index_writer import (
    NO_INDEX,
    FileIndexBuilder,
    StoredIndex,
    store_index,
)
from tablestore_engine.operation.files.single_file_writer import OpenFile, WrittenFile
from tablestore_engine.operation.files.variants import with_whole_variants
from tablestore_engine.operation.formats.batch_size import slices_within
from tablestore_engine.operation.formats.file_format import ROW_GROUP_BYTES, FileLayout
from tablestore_engine.operation.statistics.column_stats import UNKNOWN, ColumnStats
from tablestore_engine.schema.table.deletion_vector_rules import check_vectors_written
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import arrow_schema
from tablestore_engine.schema.types.system_columns import COUNT, KEY_PREFIX, key_field
from tablestore_engine.schema.types.types import DataField, refuse_nanoseconds, refuse_variants
from tablestore_engine.storage import clock
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.paths import TablePaths
from tablestore_engine.table_state import TableState

_SLICE_BYTES = ROW_GROUP_BYTES // 4  # how much larger a row group may be
_CHANGELOG_SAMPLE = 2_000  # rows by which the encodings of a changelog, which is read once or twice, are chosen


@dataclass(frozen=True)
class WriteTarget:
    """Where and as what files are written. Picklable: it travels to executors."""

    io: FileIO
    paths: TablePaths
    schema: TableSchema
    write_id: str  # unique per write; part of every file name
    creation_time_millis: int

    def file_name(self, task: str, index: int, file_format: str, *, changelog: bool = False) -> str:
        """A data file's name; `task` distinguishes the tasks of one write."""
        options = self.schema.core_options
        prefix = options.changelog_file_prefix if changelog else options.data_file_prefix
        return self.paths.new_data_file_name(self.write_id, f"{task}{index}", prefix=prefix, extension=file_format)


def write_target(
    state: TableState,
    new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    now_millis: Callable[[], int] = clock.now_millis,
) -> WriteTarget:
    """Where a new write puts its files. Raises OptionError: the table has options under which nothing is written."""
    state.options.check_writable()
    check_vectors_written(state.schema)
    return WriteTarget(state.io, state.paths, state.schema, new_id(), now_millis())


@dataclass(frozen=True)
class BucketFiles:
    """Which files a writer makes: those of one bucket at one level.

    With `retractions` they are the retraction files of a multiset table: rows have `COUNT`. With `changelog` they hold
    changes of a keyed table, of a key as many as there were.
    """

    partition_path: str
    bucket: int
    level: int
    file_source: int
    retractions: bool = False
    changelog: bool = False


class RollingWriter:
    """Writes the files of one bucket at one level; `close()` returns their metadata in key order."""

    def __init__(self, target: WriteTarget, files: BucketFiles, task: str, first_index: int = 0) -> None:
        for field in target.schema.fields:
            # Their statistics would not bound them, and Paimon's readers want them as INT96.
            refuse_nanoseconds(field.name, field.type)
        self._target = target
        self._schema = target.schema
        self._keyed = bool(target.schema.primary_keys)
        self._directory = target.paths.bucket_dir(files.partition_path, files.bucket)
        self._level = files.level
        self._file_source = files.file_source
        self._task = task
        self._changelog = files.changelog
        self._next_index = first_index
        self._options = target.schema.core_options
        for field in target.schema.fields:
            refuse_variants(field.name, field.type, self._format)
        fields = (COUNT, *target.schema.fields) if files.retractions else target.schema.fields
        self._arrow_schema = arrow_schema(
            fields, target.schema.trimmed_key_fields, thin=self._options.data_file_thin_mode
        )
        self._index: FileIndexBuilder | None = None
        self._files: list[DataFileMeta] = []
        self._made_directory = False
        self._open: OpenFile | None = None
        # A file that ends where NaN begins would end between two keys that others cannot order (pypaimon loses the
        # second), so float keys have no bounds from the start.
        keys = target.schema.primary_keys
        self._with_nan = {one.name for one in self._floats() if one.name.removeprefix(KEY_PREFIX) in keys}

    @property
    def next_index(self) -> int:
        """Index that the next file of this task should take."""
        return self._next_index

    def write(self, table: pa.Table) -> None:
        """Append rows in the file layout, which continue the key order of the rows before."""
        table = with_whole_variants(table, self._schema.fields)
        # One large batch makes no larger row groups and files than many small ones.
        for rows in slices_within(table, min(_SLICE_BYTES, self._options.file_block_size or _SLICE_BYTES)):
            if self._finds_nan(rows):
                self.roll()
            for piece in self._fitting(rows):
                if self._open is None:
                    self._open = self._start(piece)
                    self._index = None if self._changelog else FileIndexBuilder.of(self._schema)
                written = self._open.write(piece)
                if self._index is not None:
                    self._index.add(written)
                if self._is_full(self._open):
                    self._finish()

    def _fitting(self, rows: pa.Table) -> Iterator[pa.Table]:
        """The rows in parts of which each fits into the current file, as far as its number of rows is bounded."""
        most = self._options.target_file_row_num
        if most is None:
            yield rows
            return
        at = 0
        while at < rows.num_rows:
            part = rows.slice(at, most - (self._open.row_count if self._open else 0))
            at += part.num_rows
            yield part

    def _is_full(self, file: OpenFile) -> bool:
        rows = self._options.target_file_row_num
        return file.bytes_written >= self._options.target_file_size or (rows is not None and file.row_count >= rows)

    def _finds_nan(self, rows: pa.Table) -> bool:
        """Whether a column has its first NaN here; from now on files keep no bounds of it (`leaves_with_stats`)."""
        unseen = {f.name for f in self._floats()} - self._with_nan
        found = {n for n in unseen.intersection(rows.column_names) if pc.any(pc.is_nan(rows.column(n))).as_py()}
        self._with_nan |= found
        return bool(found)

    def _floats(self) -> Iterator[pa.Field]:
        return (f for f in self._arrow_schema if pa.types.is_floating(f.type))

    def roll(self) -> None:
        """Close the current file, so that the next rows start a new one."""
        if self._open is not None:
            self._finish()

    def close(self) -> list[DataFileMeta]:
        """Close the last file. Returns the metadata of all files."""
        self.roll()
        return self._files

    def abort(self) -> None:
        """Remove what was written; never raises, because the original failure is raised."""
        paths = [f"{self._directory}/{name}" for file in self._files for name in (file.file_name, *file.extra_files)]
        if self._open is not None:
            self._open.abandon()
            paths.append(self._open.path)
            self._open = None
        for path in paths:
            with suppress(StorageError):
                self._target.io.delete(path)

    def _start(self, first: pa.Table) -> OpenFile:
        if not self._made_directory:
            self._target.io.mkdirs(self._directory)
            self._made_directory = True
        name = self._target.file_name(self._task, self._next_index, self._format, changelog=self._changelog)
        self._next_index += 1
        layout = FileLayout(
            self._arrow_schema, self._schema.primary_keys, self._codec, self._options, frozenset(self._with_nan)
        )
        path = f"{self._directory}/{name}"
        sample = first.select(self._arrow_schema.names)
        if self._changelog:
            sample = sample.slice(0, _CHANGELOG_SAMPLE)
        return OpenFile(self._target.io, path, self._format, layout, sample)

    @property
    def _codec(self) -> str:
        by_level = dict(self._options.file_compression_per_level) if self._keyed else {}
        return by_level.get(self._level, self._options.file_compression)

    @property
    def _format(self) -> str:
        by_level = dict(self._options.file_format_per_level) if self._keyed else {}
        return by_level.get(self._level, self._options.file_format)

    def _finish(self) -> None:
        assert self._open is not None
        written = self._open.close()
        self._open = None
        # First without its index: whatever happens next, `abort` knows the file.
        self._files.append(self._meta(written, NO_INDEX))
        if self._index is not None:
            name, threshold = self._target.paths.new_file_index_name(written.name), self._options.file_index_threshold
            index = store_index(self._target.io, self._directory, name, self._index.close(), threshold)
            self._index = None
            self._files[-1] = self._meta(written, index)

    def _meta(self, written: WrittenFile, index: StoredIndex) -> DataFileMeta:
        schema = self._schema
        value_fields = self._fields_with_stats(written.stats)
        names = [f.name for f in value_fields]
        value_stats = _stats(written.stats, names, [f.type for f in value_fields])
        if self._keyed:
            key_fields = schema.trimmed_key_fields
            key_types = [f.type for f in key_fields]
            key_names = [key_field(f).name for f in key_fields]
            key_stats = _stats(written.stats, key_names, key_types)
            min_key, max_key = encode_row(written.min_key, key_types), encode_row(written.max_key, key_types)
        else:
            key_stats = SimpleStats(_EMPTY_ROW, _EMPTY_ROW, ())
            min_key = max_key = _EMPTY_ROW
        return DataFileMeta(
            file_name=written.name,
            file_size=written.size,
            row_count=written.rows,
            min_key=min_key,
            max_key=max_key,
            key_stats=key_stats,
            value_stats=value_stats,
            min_sequence_number=written.min_sequence,
            max_sequence_number=written.max_sequence,
            schema_id=schema.id,
            level=self._level,
            creation_time_millis=self._target.creation_time_millis,
            delete_row_count=written.deletes,
            file_source=self._file_source,
            value_stats_cols=None if len(names) == len(schema.fields) else tuple(names),
            extra_files=index.extra_files,
            embedded_index=index.embedded,
        )

    def _fields_with_stats(self, stats: dict[str, ColumnStats]) -> tuple[DataField, ...]:
        """The columns of which a file has statistics."""
        fields = self._schema.fields
        if not self._options.stats_dense_store:
            return fields
        return tuple(f for f in fields if stats[f.name] != UNKNOWN)


_EMPTY_ROW = encode_row((), ())


def _stats(stats: dict[str, ColumnStats], names: Sequence[str], types: Sequence[Any]) -> SimpleStats:
    chosen = [stats[name] for name in names]
    return SimpleStats(
        encode_row([s.minimum for s in chosen], types),
        encode_row([s.maximum for s in chosen], types),
        tuple(s.null_count for s in chosen),
    )
