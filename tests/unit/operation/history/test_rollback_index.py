"""The index of dynamic buckets after a rollback."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from support.dynamic_buckets import COLUMNS, DYNAMIC, buckets, everything, index_names
from support.invariants import check_invariants
from support.tables import arrow_rows, by_key, identity, make_table, new_job, rows, write

from tablestore_engine.errors import ConflictError
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.index_change import IndexChange
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.history.rollback import restored_schema
from tablestore_engine.operation.write.write_task import write_table
from tablestore_engine.operation.write_job.hash_index_change import index_change
from tablestore_engine.schema.table.layout import with_buckets as layout_with_buckets


def replace_all_rows(table, ids):
    job = new_job(table, into_empty=True)
    write(table, rows(ids, "b"), kind="OVERWRITE", replaces=everything, job=job)


def test_rolling_back_brings_the_index_back(dynamic):
    """Another program that writes next finds the keys that came back, in the buckets that they have now."""
    write(dynamic, rows(range(6), "a"))
    replace_all_rows(dynamic, range(100, 106))
    write(dynamic, rows(range(106, 110), "c"))
    assert dynamic.roll_back(1) is not None
    assert by_key(dynamic).keys() == set(range(6))
    assert buckets(dynamic) == {0: 4, 1: 2}
    check_invariants(dynamic)
    old, new = ({e.file_name for e in dynamic.index_files(s)} for s in (dynamic.snapshot(1), None))
    assert not old & new, "a file that left the table does not come back"
    dynamic.expire_snapshots(Retention(1, 1, 0, 100), int(time.time() * 1000) + 10_000_000)
    assert len(dynamic.snapshots()) == 1
    assert index_names(dynamic) == sorted(new)
    before = dynamic.latest_snapshot().index_manifest
    write(dynamic, rows(range(6), "d"))
    assert dynamic.latest_snapshot().index_manifest == before, "all keys are known"
    assert {row["v"] for row in by_key(dynamic).values()} == {"d"}


def test_index_files_that_are_still_there_stay_when_rolling_back(dynamic):
    write(dynamic, rows(range(4), "a"))
    write(dynamic, rows(range(4), "b"))
    dynamic.roll_back(1)
    assert dynamic.index_files() == dynamic.index_files(dynamic.snapshot(1))
    assert {row["v"] for row in by_key(dynamic).values()} == {"a"}
    check_invariants(dynamic)


def test_a_write_that_began_before_a_roll_back_conflicts(dynamic):
    write(dynamic, rows(range(6), "a"))
    replace_all_rows(dynamic, range(100, 106))
    latest = dynamic.latest_snapshot()
    job = new_job(dynamic)
    result = write_table(job, arrow_rows(dynamic.schema, rows([100, 200], "c")))
    change = Change("APPEND", tuple(result.entries), base_snapshot_id=latest.id, index=index_change(job, result))
    dynamic.roll_back(1)
    with pytest.raises(ConflictError):
        Committer(dynamic.state).commit(change, identity())
    assert by_key(dynamic).keys() == set(range(6))


def test_a_roll_back_that_counts_on_index_files_conflicts_when_they_go(dynamic):
    """Commits between looking and committing take index files away; they must not be named again."""
    write(dynamic, rows(range(4), "a"))
    kept = tuple(dynamic.index_files())
    change = Change("OVERWRITE", restores=(), index=IndexChange(restores=kept))
    replace_all_rows(dynamic, range(2))
    with pytest.raises(ConflictError, match="Index file"):
        Committer(dynamic.state).commit(change, identity())
    Committer(dynamic.state).commit(Change("OVERWRITE", replaces=everything), identity())
    assert dynamic.latest_snapshot().index_manifest is None
    with pytest.raises(ConflictError, match="Index file"):
        Committer(dynamic.state).commit(change, identity())


def test_rolling_back_over_rescaling_keeps_the_columns_of_now(catalog):
    table = make_table(catalog, COLUMNS, ["id"], options=DYNAMIC)
    write(table, rows(range(6), "a"))
    fixed = layout_with_buckets(table.schema, 2, table.schemas.list_ids()[-1], 0)
    assert fixed.replaces is not None
    renamed = replace(fixed, options={**fixed.options, "snapshot.num-retained.min": "3"})
    back = restored_schema(_Schemas(table.schemas, renamed), renamed, table.snapshot(1))
    assert back.core_options.bucket == -1
    assert back.options["snapshot.num-retained.min"] == "3"
    assert back.fields == renamed.fields


class _Schemas:
    """A store with one more schema."""

    def __init__(self, store, newest):
        self._store, self._newest = store, newest

    def load(self, schema_id):
        return self._newest if schema_id == self._newest.id else self._store.load(schema_id)

    def list_ids(self):
        return [*self._store.list_ids(), self._newest.id]

    def descends(self, schema_id, ancestor):
        return schema_id == ancestor
