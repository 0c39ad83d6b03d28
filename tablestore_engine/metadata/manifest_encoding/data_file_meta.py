"""The metadata of one data file.

Vocabulary: *key* values are BinaryRows of the trimmed primary key; *statistics* are BinaryRows of minima and maxima
and a null count per column, None for a column that has none; ``value_stats_cols`` names the columns that value
statistics cover, None for all of them. Invariant: a data file and its metadata never change; only its level may be
raised, which removes it and adds it again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tablestore_engine.metadata.binary_row import EMPTY_ROW

FILE_SOURCE_APPEND = 0
FILE_SOURCE_COMPACT = 1
_FILE_SCHEME = re.compile(r"^file:(//[^/]*)?(?=/)")
READ_FORMATS = ("parquet", "orc", "avro")
"""The formats of data files that this engine reads and writes."""
FILE_INDEX_SUFFIX = ".index"
"""The end of the names of side files that hold the file index of a data file."""


def format_of(path: str) -> str:
    """The format of a data file, by the end of its name."""
    _, dot, extension = path.rpartition("/")[2].rpartition(".")
    return extension if dot else "parquet"


def plain_path(path: str) -> str:
    """A path without the scheme of the local file system, which other tools write in front of it (file:/a/b)."""
    return _FILE_SCHEME.sub("", path)


@dataclass(frozen=True, slots=True)
class SimpleStats:
    """Statistics of some columns: BinaryRows of the least and greatest values, and the nulls of each."""

    min_values: bytes
    max_values: bytes
    null_counts: tuple[int | None, ...]


EMPTY_STATS = SimpleStats(EMPTY_ROW, EMPTY_ROW, ())


@dataclass(frozen=True, slots=True)
class DataFileMeta:
    """One data file. Sizes in bytes, times in milliseconds since 1970.

    ``file_source`` is 0 for a file that a write made and 1 for one that a compaction made; ``delete_row_count``
    counts the rows of kind -D (and -U).
    """

    file_name: str
    file_size: int
    row_count: int
    min_key: bytes
    max_key: bytes
    key_stats: SimpleStats
    value_stats: SimpleStats
    min_sequence_number: int
    max_sequence_number: int
    schema_id: int
    level: int
    extra_files: tuple[str, ...] = ()
    creation_time_millis: int | None = None
    delete_row_count: int | None = None
    embedded_index: bytes | None = None
    file_source: int | None = None
    value_stats_cols: tuple[str, ...] | None = None
    external_path: str | None = None
    first_row_id: int | None = None
    write_cols: tuple[str, ...] | None = None

    def path_in(self, directory: str) -> str:
        """Its path: an external one if the writer recorded one, else in the directory of its bucket."""
        return plain_path(self.external_path) if self.external_path else f"{directory}/{self.file_name}"

    @property
    def index_file(self) -> str | None:
        """The side file with its file index, in the directory of the file; None where there is none."""
        return next((name for name in self.extra_files if name.endswith(FILE_INDEX_SUFFIX)), None)

    @property
    def format(self) -> str:
        """Its format: parquet, orc, avro, or one that this engine does not read."""
        return format_of(self.file_name)

    def upgrade(self, level: int) -> DataFileMeta:
        """The same file at a higher level."""
        if level < self.level:
            raise ValueError(f"{self.file_name} cannot go from level {self.level} down to {level}")
        return replace(self, level=level)
