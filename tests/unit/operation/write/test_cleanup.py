"""What a write that failed leaves: nothing, and where its files are known, none is looked for."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.files import data_files
from support.tables import new_job, partitioned_table, read, schema_of, write, write_files

from tablestore_engine.errors import CommitOutcomeUnknownError, ConflictError, PrimaryKeyError
from tablestore_engine.operation.files.index_files import index_path
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty
from tablestore_engine.operation.write.cleanup import removed_unless_committed
from tablestore_engine.storage.file_io import LocalFileIO


class Looking(LocalFileIO):
    """Remembers the directories of rows that it listed."""

    def __init__(self):
        super().__init__()
        self.listed = []

    def list(self, path):
        if "/default.db/t" in path and not path.endswith(("/snapshot", "/schema", "/tag", "/compaction", "/consumer")):
            self.listed.append(path)
        return super().list(path)


def rows(v, partitions="abc"):
    return [{"p": p, "id": n, "v": v} for p in partitions for n in range(3)]


@pytest.fixture(params=["2", "-1"], ids=["fixed", "dynamic"])
def table(tmp_path, request):
    made = partitioned_table(tmp_path, {"bucket": request.param}, io=Looking())
    write(made, rows(0))
    return made


def index_files(table):
    return {one.name for one in table.io.list(table.paths.index_dir)}


def test_a_commit_that_failed_leaves_nothing_and_looks_for_nothing(table):
    before, index = data_files(table), index_files(table)
    job = new_job(table)
    result = write_files(job, rows(1, "bcd"))
    assert data_files(table) > before
    assert (index_files(table) > index) is bool(result.index)
    table.io.listed.clear()
    # A compaction adds files again that others wrote: at another level.
    result.entries.extend(table.live_files())
    with pytest.raises(ConflictError), removed_unless_committed(job.target, result):
        raise ConflictError("Others won.")
    assert table.io.listed == []
    assert (data_files(table), index_files(table)) == (before, index)
    assert len(read(table)) == 9


def test_files_that_a_snapshot_may_name_stay(table):
    job = new_job(table)
    result = write_files(job, rows(1, "d"))
    made = {index_path(table.paths, table.schema, one) for one in result.index}
    there = data_files(table)
    with pytest.raises(CommitOutcomeUnknownError), removed_unless_committed(job.target, result):
        raise CommitOutcomeUnknownError("Unknown.")
    assert data_files(table) == there
    assert all(map(table.io.exists, made))


def batch(v):
    return pa.record_batch({"p": ["a", "z"], "id": pa.array([1, v], pa.int32()), "v": pa.array([1, 2], pa.int32())})


def test_a_write_without_spark(table):
    """One write fails before its commit, so its files are searched; another conflicts with a replacement."""
    before, index = data_files(table), index_files(table)
    with pytest.raises(PrimaryKeyError):
        table.write(iter([batch(1), batch(None)]))
    assert (data_files(table), index_files(table)) == (before, index)

    def overtaken():
        yield batch(1)
        replace_empty(table.state, schema_of({"other": "INT"}))
        table.io.listed.clear()

    with pytest.raises(ConflictError):
        table.write(overtaken())
    assert table.io.listed == []
    assert (data_files(table), index_files(table)) == (before, index)
