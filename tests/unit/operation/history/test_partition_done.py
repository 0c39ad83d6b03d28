"""Marks of complete partitions, by the options `partition.mark-done-action` and `partition.end-input-to-done`."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest
from support.tables import arrow_rows, make_table, partitioned_table, reload, row

from tablestore_engine.errors import OptionError
from tablestore_engine.operation.history.partition_done import mark_done
from tablestore_engine.storage import clock

DONE = {"bucket": "1", "partition.end-input-to-done": "true"}


def written(table, *partitions):
    table.write(arrow_rows(table.schema, [row(1, p=one) for one in partitions]))
    return {name for name in os.listdir(table.path) if "=" in name}


def marked(table):
    """The partitions with a success file."""
    return {name for name in os.listdir(table.path) if os.path.exists(f"{table.path}/{name}/_SUCCESS")}


def test_a_write_marks_the_partitions_that_it_wrote_to(tmp_path, monkeypatch):
    table = partitioned_table(tmp_path, DONE)
    assert written(table, "a", "b") == marked(table) == {"p=a", "p=b"}
    os.unlink(f"{table.path}/p=a/_SUCCESS")
    monkeypatch.setattr(clock, "now_millis", lambda: 5)
    written(table, "b", "c")
    assert marked(table) == {"p=b", "p=c"}
    with open(f"{table.path}/p=c/_SUCCESS", encoding="utf-8") as file:
        assert json.load(file) == {"creationTime": 5, "modificationTime": 5}
    with open(f"{table.path}/p=b/_SUCCESS", encoding="utf-8") as file:
        times = json.load(file)
    assert times["creationTime"] > times["modificationTime"] == 5


def test_without_the_option_nothing_is_marked(tmp_path):
    table = partitioned_table(tmp_path, {"bucket": "1"})
    written(table, "a")
    assert marked(table) == set()


@pytest.mark.parametrize(
    ("action", "folders", "files"),
    [
        ("success-file", {"p=a"}, {"p=a"}),
        ("done-partition", {"p=a", "p=a.done"}, set()),
        ("done-partition, success-file", {"p=a", "p=a.done"}, {"p=a"}),
    ],
)
def test_the_action_says_what_marks(tmp_path, action, folders, files):
    table = partitioned_table(tmp_path, {**DONE, "partition.mark-done-action": action})
    assert written(table, "a") == folders
    assert marked(table) == files
    assert reload(table).to_arrow().num_rows == 1


@pytest.mark.parametrize("action", ["mark-event", "success-file,http-report", "custom"])
def test_marks_of_a_service_are_refused(tmp_path, action):
    with pytest.raises(OptionError, match=r"would not hear of a partition.*Only success-file, done-partition is"):
        partitioned_table(tmp_path, {"partition.mark-done-action": action})
    table = partitioned_table(tmp_path, DONE)
    written(table, "a")
    options = {**table.schema.options, "partition.mark-done-action": action}
    foreign = table.with_schema(replace(table.schema, options=options))  # as another engine created it
    with pytest.raises(OptionError, match="by success-file and done-partition only"):
        mark_done(foreign.state, [table.live_files()[0].partition], 0)


def test_a_table_without_partitions_has_none_to_mark(tmp_path):
    table = make_table(tmp_path, {"id": "INT"}, options={"partition.end-input-to-done": "true"})
    table.write(arrow_rows(table.schema, [{"id": 1}]))
    assert not os.path.exists(f"{table.path}/_SUCCESS")
