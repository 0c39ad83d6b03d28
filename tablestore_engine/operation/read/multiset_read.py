"""Reading a bucket of a multiset table in this process: plain files are streamed, and retracted rows are left out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.mergetree.multiset.retractions import retractions_of
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.data_file_reader import FileColumns
from tablestore_engine.operation.scan.multiset_file_overlap import overlapping_with
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.system_columns import COUNT_COLUMNS

Batches = Callable[[BucketScan, DataFileMeta, FileColumns], Iterable[pa.RecordBatch]]


def multiset_rows(
    table: str,
    bucket: BucketScan,
    schema: TableSchema,
    schemas: Callable[[int], TableSchema],
    batches: Batches,
    names: tuple[str, ...],
) -> Iterator[pa.RecordBatch]:
    """The rows of a bucket that has retraction files; these are held in memory. `table` is what an error calls it.

    Raises:
        NegativeCountError: a row was removed more often than it was added. Not where files were left out that no row
            of the predicate is in: then it cannot be known.
    """
    retraction_files = [f for f in bucket.files if is_retraction(f)]
    columns_with_count = FileColumns(schema.field_names, COUNT_COLUMNS)
    taken = itertools.chain.from_iterable(batches(bucket, f, columns_with_count) for f in retraction_files)
    retractions = retractions_of(taken, schema.fields)
    may_overlap = overlapping_with(retraction_files, schema, schemas)
    for file in bucket.files:
        if is_retraction(file):
            continue
        if not may_overlap(file):
            yield from batches(bucket, file, FileColumns(names))
            continue
        for batch in batches(bucket, file, FileColumns(schema.field_names)):
            rows = retractions.cancel(pa.Table.from_batches([batch]))
            yield from rows.select(list(names)).to_batches()
    if not bucket.pruned:
        retractions.check_done(table)
