"""The rows that row-level statements change, and those of their source."""

from __future__ import annotations

from support.files import data_files, live_paths
from support.invariants import check_invariants

TARGET = [(i, i * 10, f"t{i}" if i % 4 else None) for i in range(12)]


SOURCE = [
    (3, 300, "s3"),
    (4, None, "s4"),
    (5, 500, "del"),
    (20, 2000, "s20"),
    (21, None, "skip"),
    (None, 1, "null"),
]


def check(store):
    table = store.table("t")
    check_invariants(table)
    assert live_paths(table) <= data_files(table)
