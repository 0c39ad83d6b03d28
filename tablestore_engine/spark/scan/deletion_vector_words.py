"""The deleted rows of files as words, laid out so that a scan finds the word of a row without a join.

A *word* is 64 neighbouring rows of one file as the bits of a number. The words of the files of one scan are one array.
A row's word is found by its position, after the index at which the words of its file begin. That index is found by the
size of the file, which Spark gives as a number, as fast as any column: the size modulo a prime, for which no two files
of the scan have the same remainder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tablestore_engine.metadata.bitmaps.deletion_vector import WORD_BITS, words_of
from tablestore_engine.metadata.bitmaps.roaring import Positions

# A few, so that states of a table seldom differ in them: the code that Spark generates holds the prime.
_PRIMES = (1021, 8191, 65521, 524287)
# More are not worth the time that each task takes to load them: 32 MiB, or 256 million rows.
_MOST_WORDS = 4_194_304
# Each is a scan of its own.
_MOST_SCANS = 4


@dataclass(frozen=True)
class SizedFiles:
    """Files of one scan, as their numbers in a list, and a prime for which their sizes have different rests."""

    files: tuple[int, ...]
    prime: int

    def starts(self, sizes: Sequence[int], row_counts: Sequence[int]) -> pa.Array:
        """Where the words of each file begin, at the remainder of its size."""
        ends = np.cumsum([0, *(word_count(row_counts[i]) for i in self.files)])
        starts = np.zeros(self.prime, np.int32)
        starts[[sizes[i] % self.prime for i in self.files]] = ends[:-1]
        return pa.array(starts)


def word_count(row_count: int) -> int:
    """How many words a file of so many rows has."""
    return (row_count >> WORD_BITS) + 1


def sized_files(sizes: Sequence[int], row_counts: Sequence[int]) -> list[SizedFiles] | None:
    """Files apart into scans, so that the sizes of those of each differ; None when words are better joined."""
    if sum(map(word_count, row_counts)) > _MOST_WORDS:
        return None
    scans: list[SizedFiles] = []
    left = list(range(len(sizes)))
    while left and len(scans) < _MOST_SCANS:
        first = list({sizes[i]: i for i in reversed(left)}.values())
        one = _with_prime(sorted(first), sizes)
        scans.append(one)
        left = sorted(set(left).difference(one.files))
    return None if left else scans


def _with_prime(files: list[int], sizes: Sequence[int]) -> SizedFiles:
    """The least prime by which all sizes have other rests, or the greatest one, with the files of different rests."""
    for prime in _PRIMES:
        of_rests = {sizes[i] % prime: i for i in reversed(files)}
        if len(of_rests) == len(files):
            break
    return SizedFiles(tuple(sorted(of_rests.values())), prime)


def all_words(deleted: Iterable[Positions], row_counts: Iterable[int]) -> pa.Array:
    """The words of files, one file after the other."""
    arrays = []
    for positions, row_count in zip(deleted, row_counts, strict=True):
        words = np.zeros(word_count(row_count), np.int64)
        numbers, bits = words_of(positions)
        words[numbers] = bits
        arrays.append(words)
    return pa.array(np.concatenate(arrays))
