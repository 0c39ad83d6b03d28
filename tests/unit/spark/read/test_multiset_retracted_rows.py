"""Positions of retracted rows as pieces of files."""

from __future__ import annotations

from support.files import meta

from tablestore_engine.spark.read.multiset_retracted_rows import RowPositions


def test_row_positions():
    small, large = meta("a", rows=1000, size=5_000), meta("b", rows=7, size=6_000)
    assert RowPositions.of([small, large]) == RowPositions(10, named=False)
    assert RowPositions.of([small, large, meta("c", size=5_000)]) == RowPositions(10, named=True)
    assert RowPositions.of([meta("a", rows=2**40, size=2**40)]) is None
    assert "shiftleft(p.__tablestore_size, 10) + p.__tablestore_position" in RowPositions(10, named=False).joined(
        "p", "h"
    )
    assert "__tablestore_file" not in RowPositions(10, named=False).joined("p", "h")
    assert "p.__tablestore_file = h.__tablestore_file" in RowPositions(10, named=True).joined("p", "h")
