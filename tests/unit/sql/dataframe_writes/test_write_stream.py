"""Where the checkpoints of a stream are."""

from __future__ import annotations

import os

import pytest

from tablestore_engine.sql.dataframe_writes.write_stream import absolute_location


def test_a_relative_location_is_in_the_working_folder_of_now(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert absolute_location("checkpoints/copy") == f"{os.getcwd()}/checkpoints/copy"


@pytest.mark.parametrize("location", ["/c/copy", "file:/c/copy", "hdfs://host:9000/c", "s3a://bucket/c"])
def test_other_locations_are_as_they_are(location):
    assert absolute_location(location) == location
