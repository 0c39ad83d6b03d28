"""Which manifests a commit merges: few commits read much, and every DELETE meets its ADD in the end."""

from __future__ import annotations

import random
from types import SimpleNamespace

import pytest
from support.files import add, meta, remove
from support.tables import schema_of

from tablestore_engine.metadata.manifest_encoding.data_file_meta import EMPTY_STATS
from tablestore_engine.metadata.manifest_encoding.manifest_entry import (
    FileKind,
    ManifestFileMeta,
    merge_entries,
)
from tablestore_engine.operation.commit.manifest_merge import is_all_due, merge_all, newest_to_merge

BIG = 6_000


def options(**changes):
    given = {"manifest.target-file-size": "10000 b", "manifest.merge-min-count": "4"}
    return schema_of({"id": "INT"}, options={**given, **changes}).core_options


def listed(*counts, deletes=0):
    """A manifest for each number of entries: of one byte each, or of more than half the target when negative."""
    return [
        ManifestFileMeta(f"m{at}", BIG if n < 0 else n, abs(n), deletes, EMPTY_STATS, 0) for at, n in enumerate(counts)
    ]


def counts_of(metas):
    return [one.entry_count for one in metas]


@pytest.mark.parametrize(
    ("manifests", "before", "merged", "after"),
    [
        ((), [], [], []),
        ((1, 1, 1), [1, 1, 1], [], []),
        ((1, 1, 1, 1), [], [1, 1, 1, 1], []),
        ((7, 1, 1, 1), [7], [1, 1, 1], []),  # much more than all newer ones
        ((6, 1, 1, 1), [], [6, 1, 1, 1], []),
        ((-9, 1, 1, 1, 1), [9], [1, 1, 1, 1], []),
        ((1, 1, 1, 1, -9), [], [1, 1, 1, 1], [9]),
        ((1, -9, 1, 1, 1), [1, 9], [1, 1, 1], []),
        ((500, 50, 5, 1), [500, 50], [5, 1], []),  # else the number of small ones would stay
        ((1, -9, 1, -9, 1, -9, 1), [1, 9, 1, 9, 1, 9, 1], [], []),
    ],
)
def test_the_newest_small_manifests_are_merged(manifests, before, merged, after):
    found = newest_to_merge(listed(*manifests), options())
    assert (counts_of(found.before), counts_of(found.merged), counts_of(found.after)) == (before, merged, after)


@pytest.mark.parametrize("least", [2, 3, 30])
def test_ten_thousand_commits_write_each_entry_a_few_times(least):
    """Beyond the least count, small manifests never stay, whatever that costs."""
    choice = options(**{"manifest.merge-min-count": str(least), "manifest.target-file-size": "1 mb"})
    metas, rewritten = [], 0
    for _ in range(10_000):
        found = newest_to_merge(metas, choice)
        rewritten += sum(counts_of(found.merged))
        sizes = [*counts_of(found.before), *([sum(counts_of(found.merged))] if found.merged else [])]
        metas = [*listed(*sizes, *counts_of(found.after)), *listed(1)]
        assert len(metas) <= least
    assert sum(counts_of(metas)) == 10_000
    if least == 30:
        assert rewritten <= 10 * 10_000


def test_all_are_merged_when_those_with_deletes_are_large():
    limit = {"manifest.full-compaction-threshold-size": "2000 b"}
    assert not is_all_due(listed(1_000, 1_000), options(**limit)), "nothing is deleted"
    assert is_all_due(listed(1_000, 1_000, deletes=1), options(**limit))
    assert not is_all_due(listed(1_000, 999, deletes=1), options(**limit))
    assert is_all_due(listed(-1, 3_000, deletes=1), options(**limit))


@pytest.mark.parametrize("seed", range(20))
def test_merging_all_leaves_the_same_files_and_no_delete(seed):
    chance = random.Random(seed)
    live, manifests = [], []
    for number in range(chance.randint(2, 12)):
        taken = chance.sample(live, min(len(live), chance.choice([0, 0, 1, 3])))
        made = [add(meta(f"f{number}-{n}"), partition=bytes([chance.randint(0, 3)])) for n in range(4)]
        live = [one for one in live if one not in taken] + made
        manifests.append([*map(remove, taken), *made])
    metas = [
        ManifestFileMeta(
            str(at), chance.choice([10, BIG]), 0, sum(e.kind == FileKind.DELETE for e in entries), EMPTY_STATS, 0
        )
        for at, entries in enumerate(manifests)
    ]
    reads = []

    def read(one):
        reads.append(one.file_name)
        return manifests[int(one.file_name)]

    def choice_of(partitions):
        def may_hold(one):
            return any(e.partition in partitions for e in manifests[int(one.file_name)])

        return SimpleNamespace(may_hold=may_hold)

    kept, entries = merge_all(metas, options(), read, choice_of)
    assert all(one.kind == FileKind.ADD for one in entries)
    assert not any(one.num_deleted_files for one in kept)
    rest = [e for one in kept for e in manifests[int(one.file_name)]]
    assert {e.identifier for e in merge_entries([*rest, *entries])} == {e.identifier for e in live}
    wanted = {e.partition for group in manifests for e in group if e.kind == FileKind.DELETE}
    for one in kept:
        assert one.file_name not in reads
        assert one.file_size == BIG
    if not wanted:
        assert len(kept) == sum(one.file_size == BIG for one in metas)
