"""Where the checkpoints of a stream are."""

from __future__ import annotations

import os
from unittest.mock import Mock

import pytest

from tablestore_engine.sql.dataframe_writes.write_stream import StreamWrite, _RemoteBatches, absolute_location


def test_a_relative_location_is_in_the_working_folder_of_now(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute_location("checkpoints/copy") == f"{os.getcwd()}/checkpoints/copy"


@pytest.mark.parametrize("location", ["/c/copy", "file:/c/copy", "hdfs://host:9000/c", "s3a://bucket/c"])
def test_other_locations_are_as_they_are(location):
    assert absolute_location(location) == location


def test_a_checkpoint_with_signs_of_patterns_is_read_as_one_path():
    stream, rows = Mock(StreamWrite), Mock()
    rows.sparkSession.read.text.return_value.collect.return_value = [('{"id": "q"}',)]
    batches = _RemoteBatches(stream, "/c/a[1]")
    batches(rows, 7)
    batches(rows, 8)
    rows.sparkSession.read.text.assert_called_once_with(r"/c/a\[1\]/metadata")
    stream.write.assert_called_with("q", rows, 8)
