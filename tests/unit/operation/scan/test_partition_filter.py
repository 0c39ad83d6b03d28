"""Scans of some partitions leave out manifests that hold nothing of them, and find the same files."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from support.manifest_reads import ManifestReads
from support.tables import compact, make_table, write

from tablestore_engine.metadata.manifest_encoding.data_file_meta import EMPTY_STATS
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.schema.table.predicate import And, Compare, In, IsNotNull, IsNull, Or

NULL = None


def day(number):
    return date(2024, 1, number)


@pytest.fixture
def table(tmp_path):
    """A commit for each of five days, then one of two days, and one for rows without a day."""
    made = make_table(tmp_path, {"day": "DATE", "id": "INT"}, (), ["day"], {"write-only": "true"}, io=ManifestReads())
    for days in (*([day(n)] for n in range(1, 6)), [day(2), day(4)], [NULL]):
        write(made, [{"day": one, "id": 1} for one in days])
    return made


def scanned(table, **what):
    """The files of a scan, and how many manifests a new process reads for it."""
    table.io.forget()
    files = {(b.partition, f.file_name) for b in table.scan(**what).buckets for f in b.files}
    return files, len(table.io.read_names)


@pytest.mark.parametrize(
    ("predicate", "read"),
    [
        (Compare("id", "=", 1), 7),
        (Compare("day", "=", day(1)), 1),
        (Compare("DAY", "=", "2024-01-02"), 2),
        (Compare("day", ">", day(3)), 3),
        (In("day", (day(1), day(5))), 2),
        (Compare("day", "=", day(3)), 2),  # between the two days of one commit
        (Or((Compare("day", "=", day(1)), Compare("id", "=", 1))), 7),
        (And((Compare("day", "=", day(1)), Compare("id", "=", 9))), 1),
        (IsNull("day"), 1),
        (IsNotNull("day"), 6),
    ],
)
def test_a_predicate_reads_the_manifests_that_may_match(table, predicate, read):
    everything, _ = scanned(table)
    found, count = scanned(table, predicate=predicate)
    assert count == read
    assert found <= everything
    for asked, wanted in ((Compare("day", "=", day(1)), day(1)), (IsNull("day"), NULL)):
        if predicate == asked:
            assert found == {one for one in everything if one[0] == (wanted,)}


@pytest.mark.parametrize("wanted", [day(1), day(2), day(3), NULL])
def test_a_choice_of_partitions_reads_the_manifests_that_may_match(table, wanted):
    everything, all_read = scanned(table)
    found, count = scanned(table, partition_filter=lambda values: values == (wanted,))
    assert found == {one for one in everything if one[0] == (wanted,)}
    assert all_read == 7
    # Of a manifest with several values, or none, the choice is not asked.
    assert count == {day(1): 3, day(2): 3, day(3): 3, NULL: 2}[wanted]


def test_removed_files_are_not_found(table):
    for _ in range(4):
        write(table, [{"day": day(1), "id": 2}])
    compact(table)
    found, count = scanned(table, predicate=Compare("day", "=", day(1)))
    assert len(found) == 1, "the files that were merged are not found again"
    assert count == 6, "one for each commit, and the compaction"


def test_manifests_without_statistics_are_read(table):
    (meta, *_) = table.manifests.read_list(table.latest_snapshot().delta_manifest_list)
    choice = PartitionFilter(table.schema, Compare("day", "=", day(1)), lambda values: False)
    assert not choice.may_hold(meta), "it holds rows without a day only"
    assert choice.may_hold(replace(meta, partition_stats=EMPTY_STATS))
    assert choice.may_hold(replace(meta, partition_stats=replace(meta.partition_stats, min_values=b"\0\0\0\1")))
