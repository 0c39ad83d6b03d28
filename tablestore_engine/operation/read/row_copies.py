"""How often a table without a key has some rows: which retractions have their row.

The rows are looked up by a column without nulls, in which most of them differ. Files are skipped by its statistics, and
pages by the page index. Where there is no such column, whole files are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.row_ids import Numbers, row_ids
from tablestore_engine.mergetree.multiset.multiset import is_retraction
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.files.data_file_reader import FileColumns, read_batches
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.files.lookup_rows import RowKeys
from tablestore_engine.operation.read.arrow_read import file_rows, records_of_keys
from tablestore_engine.operation.scan.file_skipping import FileBounds
from tablestore_engine.operation.scan.key_lookup import keys_in
from tablestore_engine.operation.scan.multiset_file_overlap import Values
from tablestore_engine.operation.scan.scan_plan import BucketScan
from tablestore_engine.schema.types.system_columns import COUNT, COUNT_COLUMNS
from tablestore_engine.table_state import TableState


def copies_of(state: TableState, buckets: Iterable[BucketScan], rows: pa.Table) -> Numbers:
    """How often each of different rows is in the files of some buckets; below zero where it was removed too often.

    `rows` have the columns of the table, in their order and types.
    """
    found = np.zeros(rows.num_rows, np.int64)
    keys, bounds = _keys(rows)
    for bucket in buckets:
        sought = keys if keys is None else keys_in(bucket, keys, state.schema, state.schemas.load)
        if sought is not None and not sought.values.num_rows:
            continue
        for file in bucket.files:
            if _may_hold(state, file, bounds):
                for batch in _batches(state, bucket, file, sought):
                    _add(found, rows, pa.Table.from_batches([batch]))
    return found


def _keys(rows: pa.Table) -> tuple[RowKeys | None, dict[str, Values]]:
    """The column by which rows are looked up, and the range of its values where files can be skipped by it."""
    usable = [
        name
        for name in rows.column_names
        if not rows.column(name).null_count and _is_exact(rows.schema.field(name).type)
    ]
    if not usable or not rows.num_rows:
        return None, {}
    name = max(usable, key=lambda one: pc.count_distinct(rows.column(one)).as_py())
    kind, ends = rows.schema.field(name).type, pc.min_max(rows.column(name))
    compared = pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_string(kind)
    bounds = {name: Values(ends["min"].as_py(), ends["max"].as_py(), False)} if compared else {}
    return RowKeys(rows.select([name])), bounds


def _is_exact(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date(kind)
                or pa.types.is_timestamp(kind) or pa.types.is_decimal(kind))  # fmt: skip


def _may_hold(state: TableState, file: DataFileMeta, bounds: dict[str, Values]) -> bool:
    known = FileBounds(file, state.schema, state.schemas.load).of(None)
    own = [(Values.of(known(name)), wanted) for name, wanted in bounds.items()]
    return all(one is None or one.meets(wanted) for one, wanted in own)


def _batches(
    state: TableState, bucket: BucketScan, file: DataFileMeta, keys: RowKeys | None
) -> Iterable[pa.RecordBatch]:
    columns = FileColumns(state.schema.field_names, COUNT_COLUMNS if is_retraction(file) else ())
    source = file_rows(state, state.schema, (bucket, file), columns)
    if keys is not None:
        return records_of_keys(source, (bucket, file), keys, None)
    deleted = positions_in(state.io, bucket.deletions, file.file_name)
    return read_batches(state.io, source.file, state.schema, columns, deleted=deleted)


def _add(found: Numbers, rows: pa.Table, batch: pa.Table) -> None:
    """Add the counts of the rows of a batch to those of the rows that are looked for."""
    if not batch.num_rows:
        return
    columns: Sequence[Any] = [
        pa.concat_arrays([one_array(column), one_array(batch.column(name)).cast(column.type)])
        for name, column in zip(rows.column_names, rows.columns, strict=True)
    ]
    ids = row_ids(columns, rows.num_rows + batch.num_rows)
    counts = batch.column(COUNT.name).to_numpy() if COUNT.name in batch.column_names else np.ones(batch.num_rows)
    totals = np.bincount(ids[rows.num_rows :], counts, minlength=int(ids.max()) + 1)
    found += totals[ids[: rows.num_rows]].astype(np.int64)
