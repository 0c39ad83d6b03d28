"""The layout of deleted rows in words: each row of each file finds its own bit, whatever sizes the files have."""

from __future__ import annotations

import numpy as np
import pytest

from tablestore_engine.spark.scan import deletion_vector_words
from tablestore_engine.spark.scan.deletion_vector_words import all_words, sized_files


def deleted_as_read(sizes, row_counts, deleted):
    """The rows that a scan leaves out of each file, by the arithmetic that Spark does."""
    found = [set() for _ in sizes]
    for scan in sized_files(sizes, row_counts):
        words = all_words([np.array(deleted[i], np.int64) for i in scan.files], [row_counts[i] for i in scan.files])
        starts = scan.starts(sizes, row_counts)
        for i in scan.files:
            for row in range(row_counts[i]):
                word = words[starts[sizes[i] % scan.prime].as_py() + (row >> 6)].as_py()
                if word >> (row & 63) & 1:
                    found[i].add(row)
    return found


@pytest.mark.parametrize(
    "sizes",
    [
        [1000],
        [1000, 2000, 3000],
        [1000, 2021, 1000],  # the rests of 1021 are equal, and two of the sizes
        [7, 7, 7, 7],
        [7, 7 + 1021 * 8191 * 65521 * 524287, 9],  # no prime distinguishes the first two
    ],
)
def test_each_row_finds_its_bit(sizes):
    row_counts = [64, 1, 200, 130][: len(sizes)]
    deleted = [[0, 63], [0], [1, 64, 127, 128, 199], [129]][: len(sizes)]
    assert deleted_as_read(sizes, row_counts, deleted) == [set(one) for one in deleted]


def test_every_file_is_in_one_scan():
    sizes = [500 + i % 3 for i in range(12)]
    scans = sized_files(sizes, [10] * 12)
    assert sorted(i for one in scans for i in one.files) == list(range(12))
    assert len(scans) == 4


def test_words_are_joined(monkeypatch):
    assert sized_files([7] * 5, [10] * 5) is None  # five scans
    monkeypatch.setattr(deletion_vector_words, "_MOST_WORDS", 3)
    assert sized_files([1, 2], [64, 10]) is not None
    assert sized_files([1, 2], [128, 10]) is None
