"""Numbers of writes: above all that a table holds, apart from those of other writes and of their layers."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import pairwise

import pytest
from support.tables import make_table, write

from tablestore_engine.mergetree.merge.sequence_layers import MOST_LAYERS
from tablestore_engine.operation.write_job.new_write import new_job, new_sequence_number

AHEAD = (time.time_ns() // 1000 + 10**12) << 10  # some days from now


@pytest.mark.parametrize("used", [0, AHEAD], ids=["by the clock", "ahead of the clock"])
def test_numbers_are_apart_from_each_other(tmp_path, used):
    table = make_table(tmp_path, {"id": "INT"}, ["id"])
    job = new_job(table.write_target(), [])
    write(table, [{"id": 1}], job=_numbered(job, used))
    live = table.live_files()
    numbers = [new_sequence_number(live) for _ in range(50)]
    assert numbers[0] > used
    assert all(later - earlier > MOST_LAYERS for earlier, later in pairwise(numbers))


def test_processes_that_are_behind_do_not_tie(tmp_path, monkeypatch):
    table = make_table(tmp_path, {"id": "INT"}, ["id"])
    write(table, [{"id": 1}], job=_numbered(new_job(table.write_target(), []), 2 * AHEAD))
    live, found = table.live_files(), set()
    for _ in range(20):
        monkeypatch.setattr("tablestore_engine.operation.write_job.new_write._last_number", 0)
        found.add(new_sequence_number(live))
    assert len(found) > 1


def _numbered(job, number):
    return replace(job, sequence_number=number)
