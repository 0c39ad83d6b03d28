"""Rollbacks by procedures, without Spark."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import keyed_table, write

from tablestore_engine.errors import SnapshotNotFound
from tablestore_engine.sql.procedures.snapshot_procedures import PROCEDURES


def test_a_snapshot_without_a_watermark_is_none_with_an_early_one(tmp_path):
    table = keyed_table(tmp_path, {"bucket": "1"})
    roll_back = PROCEDURES["rollback_to_watermark"].run
    for number, watermark in enumerate((100, -(2**63), None)):
        made = replace(write(table, [{"id": 1, "v": number}]), watermark=watermark)
        table.io.write(table.paths.snapshot(made.id), made.to_json().encode())
    with pytest.raises(SnapshotNotFound, match="no snapshot with a watermark of 99 or earlier"):
        roll_back(table, {"watermark": 99}, None)
    assert roll_back(table, {"watermark": 100}, None) == [(3, 1, 4)]
    assert table.to_arrow().column("v").to_pylist() == [0]
