"""Which small files of a table without a key are written anew, as scenarios of file sizes."""

from __future__ import annotations

import pytest
from support.files import meta

from tablestore_engine.mergetree.compaction.pick_small_files import pick_all_small, pick_small

TARGET = 100_000


def files_of(sizes):
    return [meta(f"f{i}", size=size) for i, size in enumerate(sizes)]


def picked(sizes, enough=5):
    return [f.file_size for f in pick_small(files_of(sizes), TARGET, enough)]


@pytest.mark.parametrize(
    ("sizes", "chosen"),
    [
        ([], []),
        ([1, 1, 1, 1], []),
        ([1, 1, 1, 1, 1], [1, 1, 1, 1, 1]),
        # A file of a bulk load waits until what came after it is as large.
        ([50_000, 1, 1, 1, 1], []),
        ([50_000, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1]),
        ([50_000, 20_000, 20_000, 9_999, 1], [1, 9_999, 20_000, 20_000, 50_000]),
        ([50_000, 20_000, 20_000, 9_998, 1], []),
        # Large files are left alone.
        ([70_000, 1, 1, 1, 1], []),
        ([69_999, 69_999, 69_999, 1, 1], [1, 1, 69_999, 69_999, 69_999]),
        # The more the better, also after a file that is large compared with those before it.
        ([1, 2, 4, 8, 16, 16], [1, 2, 4, 8, 16, 16]),
    ],
)
def test_small_files_are_picked(sizes, chosen):
    assert picked(sizes) == chosen


def test_a_single_file_is_never_due():
    assert picked([1], enough=1) == []
    assert pick_all_small(files_of([1]), TARGET) == []


def test_all_small_files_are_picked_on_request():
    assert [f.file_size for f in pick_all_small(files_of([50_000, 1, 70_000]), TARGET)] == [1, 50_000]


def test_small_writes_cost_what_they_bring():
    """One write of one byte after the other: few files, and no byte is written anew often."""
    files, rewritten, most = [50_000], 0, 0
    for _ in range(3_000):
        files.append(1)
        chosen = picked(files)
        if chosen:
            rewritten += sum(chosen)
            for size in chosen:
                files.remove(size)
            files.append(sum(chosen))
        most = max(most, len(files))
    assert rewritten < 3_000 * 12, "log2 of 3,000"
    assert most < 5 + 12
