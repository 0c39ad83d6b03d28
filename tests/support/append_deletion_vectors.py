"""DELETE on append tables with deletion vectors, without Spark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from support.tables import new_job, write_files
from tablestore_engine.operation.commit.append_deletion_vectors import mark_deleted
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.index_change import IndexChange
from tablestore_engine.operation.files.data_file_reader import FileColumns, StoredFile, read_batches
from tablestore_engine.operation.files.deletion_vectors import positions_in
from tablestore_engine.operation.transaction.transaction import publish
from tablestore_engine.operation.write_job.write_intent import PLAIN
from tablestore_engine.operation.write_job.write_job import WriteResult


def prepared_delete(table, chosen, added=(), *, intent=PLAIN):
    """A function that commits a DELETE of the rows with some ids, and adds others, as of the table now."""
    plan, snapshot, job = table.scan(), table.latest_snapshot(), replace(new_job(table), intent=intent)
    positions = {}
    for bucket in plan.buckets:
        for file in bucket.files:
            found = _positions(table, bucket, file, chosen)
            if len(found):
                positions[file.file_name] = found
    result = write_files(job, added) if added else WriteResult()
    marked = mark_deleted(job.target, plan, positions)
    index = IndexChange(vectors=marked.vectors) if marked.vectors else None
    result.index.extend(index.written if index else ())
    removed = tuple(entry for bucket in marked.emptied for entry in bucket.removals)
    change = Change("OVERWRITE", removed=removed, read_snapshot=snapshot.id if snapshot else 0, index=index)
    return lambda: publish(table.state, job, result, change).snapshot


def _positions(table, bucket, file, chosen):
    """The positions of the rows with some ids in a file that are not deleted."""
    stored = StoredFile(bucket.path_of(table.paths, file), file.file_size, table.schema)
    batches = list(read_batches(table.io, stored, table.schema, FileColumns(("id",))))
    own = pa.Table.from_batches(batches).column("id").to_numpy()
    deleted = positions_in(table.io, bucket.deletions, file.file_name)
    return np.setdiff1d(np.flatnonzero(np.isin(own, list(chosen))), [] if deleted is None else deleted)
