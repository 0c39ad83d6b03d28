"""What `TableStore.write` asks before it runs anything."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest
from support.tables import make_table

from tablestore_engine.errors import SchemaError
from tablestore_engine.operation.commit.commit_identity import CommitIdentity
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.sql.dataframe_writes.write_frame import write_in_session

SENT = CommitIdentity("loader", 1, check_duplicate=True)


class Frame:
    """A DataFrame that counts how often it is asked what it is."""

    def __init__(self, streams=False):
        self.streams, self.asked = streams, 0

    @property
    def isStreaming(self):
        self.asked += 1
        return self.streams


@pytest.fixture
def send(tmp_path):
    table, spark = make_table(tmp_path, {"id": "INT"}), SimpleNamespace(conf=SimpleNamespace(getAll={}))
    table.write(pa.table({"id": pa.array([1], pa.int32())}), commit_user="loader", commit_identifier=1)
    loads = []

    def call(frame):
        load = lambda: loads.append(1) or table  # noqa: E731
        return write_in_session(spark, load, frame, {}, intent=WriteIntent(identity=SENT)), len(loads)

    return call


def test_a_write_loads_the_table_once_and_asks_the_frame_once(send):
    frame = Frame()
    assert send(frame) == (0, 1), "it was sent before"
    assert frame.asked == 1


@pytest.mark.parametrize(("rows", "message"), [(Frame(streams=True), "is a stream"), ([1], "this is a list")])
def test_values_that_are_no_table_are_refused(send, rows, message):
    with pytest.raises(SchemaError, match=message):
        send(rows)
