"""Compaction as writes and statements ask for it, where it is small enough for this process: no JVM."""

from __future__ import annotations

import pytest
from engine_support import by_key, make_table, write

from tablestore_engine.spark.compactor import compact_after_write, compact_table


def no_spark():
    raise AssertionError("Spark was started")


def table_of(tmp_path, **options):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"}, ["id"], options=options)
    for v in range(2):
        write(table, [{"id": 1, "v": v}, {"id": 2, "v": v}])
    return table


def touched(table):
    return {(e.partition, e.bucket) for e in table.live_files()}


@pytest.mark.parametrize(
    ("prefix", "user"), [({}, "compact-"), ({"commit.user-prefix": "me"}, "me_compact-")]
)
def test_a_compaction_is_told_by_its_user(tmp_path, prefix, user):
    table = table_of(tmp_path, **prefix)
    snapshot = compact_table(no_spark, table)
    assert (snapshot.id, snapshot.commit_kind) == (3, "COMPACT")
    assert snapshot.commit_user.startswith(user)
    assert compact_table(no_spark, table) is None


@pytest.mark.parametrize(
    ("options", "compacts"),
    [
        ({}, False),  # two runs are fewer than the trigger
        ({"num-sorted-run.compaction-trigger": "2"}, True),
        ({"compaction.total-size-threshold": "1 mb"}, True),
        ({"compaction.incremental-size-threshold": "1 b"}, True),
        ({"compaction.incremental-size-threshold": "1 mb"}, False),
        ({"compaction.optimization-interval": "1 h"}, False),
        ({"compaction.total-size-threshold": "1 mb", "write-only": "true"}, False),
    ],
    ids=str,
)
def test_what_is_due_after_a_write(tmp_path, options, compacts):
    table = table_of(tmp_path, **options)
    snapshot = compact_after_write(None, table, touched(table))
    assert (snapshot is not None) is compacts
    assert by_key(table)[1]["v"] == 1
    assert len(table.live_files()) == (1 if compacts else 2)


def test_only_buckets_that_were_written_to(tmp_path):
    table = table_of(tmp_path, **{"compaction.total-size-threshold": "1 mb"})
    assert compact_after_write(None, table, set()) is None
    assert compact_after_write(None, table, {(b"elsewhere", 0)}) is None
