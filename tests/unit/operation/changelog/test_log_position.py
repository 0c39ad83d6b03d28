"""How far a log is: notes that are kept, missing or of another table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import keyed_arrow, keyed_table

from tablestore_engine.errors import CorruptMetadataError, LogError
from tablestore_engine.operation.changelog.log_position import LogPosition, note_position, noted_position


def test_a_note_comes_back(tmp_path):
    table = keyed_table(tmp_path, {"log.kafka.topic": "t"})
    position = LogPosition("t", 3, "mark", (1, 2))
    note_position(table.state, LogPosition("another"))
    note_position(table.state, position)
    note_position(table.state, LogPosition("another", 7))
    assert noted_position(table.state) == position


def test_a_lost_note_and_a_damaged_one_say_what_to_do(tmp_path):
    table = keyed_table(tmp_path, {"log.kafka.topic": "t"})
    with pytest.raises(LogError, match="restart => true"):
        noted_position(table.state)
    table.io.write(table.paths.log_position("t"), b"{")
    with pytest.raises(CorruptMetadataError, match="log-position"):
        noted_position(table.state)


def test_a_position_fits_its_own_snapshot_only(tmp_path):
    table = keyed_table(tmp_path)
    snapshot = table.write(keyed_arrow(1, 1))
    position = LogPosition("t", snapshot.id, snapshot.mark)
    assert position.fits(snapshot)
    assert not position.fits(replace(snapshot, uuid="another"))
    assert not position.fits(replace(snapshot, id=2))
