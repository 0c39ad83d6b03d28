"""Which files hold no row that a predicate accepts, by their file indexes (`file-index.*`).

A bitmap index gives the rows of a value, so that columns can be combined; a bloom filter says only that a value is not
there. In doubt the answer is yes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.file_index_read import opened_index
from tablestore_engine.operation.scan.stats_may_match import key_value
from tablestore_engine.schema.table.indexed_columns import BITMAP, BLOOM_FILTER
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNull, Or, Predicate
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import AtomicType
from tablestore_engine.storage.file_io import FileIO

if TYPE_CHECKING:
    from tablestore_engine.metadata.bitmaps.roaring import Positions
    from tablestore_engine.metadata.file_index.byte_source import ByteSource
    from tablestore_engine.metadata.file_index.container import IndexRange

MOST_VALUES = 1_000
"""Of an IN with more values, a file is not asked for each."""


class FileIndexes:
    """The file indexes of a table. `schemas` loads the schema that a file was written with."""

    def __init__(self, io: FileIO, schema: TableSchema, schemas: Callable[[int], TableSchema]) -> None:
        self._io = io
        self._schema = schema
        self._schemas = schemas

    def may_match(
        self, predicate: Predicate, directory: str, file: DataFileMeta, only: Collection[str] | None = None
    ) -> bool:
        """Whether a file in a directory may hold a row that the predicate accepts.

        `only` restricts the indexes to those of some columns.

        Raises:
            CorruptMetadataError, StorageError: the index cannot be read.
        """
        if file.embedded_index is None and file.index_file is None:
            return True
        if not self._schema.core_options.file_index_read or not _asks(predicate, self._schema, only):
            return True
        with opened_index(self._io, directory, file) as source:
            if source is None:
                return True
            own = self._schemas(file.schema_id) if file.schema_id != self._schema.id else self._schema
            rows = _Lookup(source, self._schema, own, only).rows(predicate)
            return rows is None or len(rows) > 0


def _asks(predicate: Predicate, schema: TableSchema, only: Collection[str] | None) -> bool:
    """Whether an index could answer some part of a predicate."""
    if isinstance(predicate, (And, Or)):
        return any(_asks(child, schema, only) for child in predicate.children)
    if only is not None and not _is_among(predicate.column, schema, only):
        return False
    return isinstance(predicate, (In, IsNull)) or (isinstance(predicate, Compare) and predicate.op == "=")


def _is_among(column: str, schema: TableSchema, names: Collection[str]) -> bool:
    return schema.has_field(column) and schema.field(column).name in names


class _Lookup:
    """Asks the index of one file. Rows are their positions, None when nothing is known."""

    def __init__(
        self, source: ByteSource, current: TableSchema, own: TableSchema, only: Collection[str] | None
    ) -> None:
        # Code that only reads metadata does not import Arrow.
        from tablestore_engine.metadata.file_index.container import read_heads

        self._source = source
        self._heads = read_heads(source)
        self._current = current
        self._own = own
        self._only = only

    def rows(self, predicate: Predicate) -> Positions | None:
        if isinstance(predicate, And):
            return self._all_of(predicate.children)
        if isinstance(predicate, Or):
            return self._any_of([self.rows(child) for child in predicate.children])
        found = self._indexes_of(predicate.column)
        if found is None:
            return None
        data_type, kinds = found
        if isinstance(predicate, IsNull):
            return self._null_rows(kinds, data_type)
        if isinstance(predicate, In):
            if len(predicate.values) > MOST_VALUES:
                return None
            return self._any_of([self._rows_of(value, kinds, data_type) for value in predicate.values])
        if isinstance(predicate, Compare) and predicate.op == "=":
            return self._rows_of(predicate.value, kinds, data_type)
        return None

    def _all_of(self, children: Collection[Predicate]) -> Positions | None:
        import numpy as np

        known: Positions | None = None
        for child in children:
            rows = self.rows(child)
            if rows is None:
                continue
            known = rows if known is None else np.intersect1d(known, rows, assume_unique=True)
            if not len(known):
                break
        return known

    def _any_of(self, parts: Collection[Positions | None]) -> Positions | None:
        import numpy as np

        from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS

        known = [one for one in parts if one is not None]
        if len(known) < len(parts):
            return None
        return np.unique(np.concatenate(known)) if known else NO_POSITIONS

    def _indexes_of(self, column: str) -> tuple[AtomicType, Mapping[str, IndexRange]] | None:
        """The type and the indexes of a column, found in the file's schema by id."""
        if not _is_among(column, self._current, self._current.field_names if self._only is None else self._only):
            return None
        field = self._current.field(column)
        own = next((one for one in self._own.fields if one.id == field.id), None)
        if own is None or own.type.as_nullable(True) != field.type.as_nullable(True):
            return None
        kinds = self._heads.get(own.name)
        return (own.type, kinds) if kinds and isinstance(own.type, AtomicType) else None

    def _rows_of(self, constant: Any, kinds: Mapping[str, IndexRange], data_type: AtomicType) -> Positions | None:
        from tablestore_engine.metadata.bitmaps.roaring import NO_POSITIONS

        if any(one.left_out for one in kinds.values()):
            return NO_POSITIONS
        value = _value_of(constant, data_type)
        if value is None:
            return None
        if BLOOM_FILTER in kinds:
            from tablestore_engine.metadata.file_index.bloom_filter import bloom_filter_finds

            if not bloom_filter_finds(self._source, kinds[BLOOM_FILTER], value, data_type):
                return NO_POSITIONS
        if BITMAP in kinds:
            from tablestore_engine.metadata.file_index.bitmap_lookup import BitmapLookup

            return BitmapLookup(self._source, kinds[BITMAP], data_type).rows_of(value)
        return None

    def _null_rows(self, kinds: Mapping[str, IndexRange], data_type: AtomicType) -> Positions | None:
        if BITMAP not in kinds or kinds[BITMAP].left_out:
            return None
        from tablestore_engine.metadata.file_index.bitmap_lookup import BitmapLookup

        return BitmapLookup(self._source, kinds[BITMAP], data_type).null_rows()


def _value_of(constant: Any, data_type: AtomicType) -> Any:
    """A query's constant as indexes hold it; None when no value, or not a certain one, equals it."""
    value = key_value(constant, data_type)
    if value is None:
        return None
    from tablestore_engine.metadata.file_index.index_values import index_value

    try:
        return index_value(value, data_type)
    except ValueError:  # a time with more digits than the column has
        return None
