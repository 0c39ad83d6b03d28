"""Tables with dynamic buckets without Spark: where keys go, what the index says, and which commits conflict."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from support.files import data_files
from support.invariants import check_invariants
from support.tables import DELETE, PUT, arrow_rows, by_key, compact, identity, make_table, new_job, read, rows, write

from tablestore_engine.errors import ConflictError, OptionError, PrimaryKeyError, SchemaError, UserError
from tablestore_engine.metadata.manifests.index_manifest import IndexEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.commands.table_commands import drop_partitions, replace_empty
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.commit.index_commit import IndexChange
from tablestore_engine.operation.history.rollback import restored_schema
from tablestore_engine.operation.history.snapshot_expire import Retention
from tablestore_engine.operation.job.index_change import index_change
from tablestore_engine.operation.write.cleanup import remove_files
from tablestore_engine.operation.write.write_table import BUCKET_COLUMN, write_table
from tablestore_engine.schema.table.layout import with_buckets as layout_with_buckets
from tablestore_engine.schema.table.schema_changes import SetOption
from tablestore_engine.storage.stores.hash_index import write_hashes

DYNAMIC = {"bucket": "-1", "dynamic-bucket.target-row-num": "4"}
COLUMNS = {"id": "BIGINT", "v": "STRING"}


@pytest.fixture
def table(catalog):
    return make_table(catalog, COLUMNS, ["id"], options=DYNAMIC)


def buckets(table, snapshot=None):
    """How many keys each bucket has had, by the index."""
    return {e.bucket: e.row_count for e in sorted(table.index_files(snapshot), key=lambda e: e.bucket)}


def index_names(table):
    return sorted(os.listdir(table.paths.index_dir))


def everything(entry):
    return True


# -- where keys go ---------------------------------------------------------------------------------------


def test_known_keys_stay_and_new_ones_fill_small_buckets_first(table):
    write(table, rows(range(6), "a"))
    assert buckets(table) == {0: 4, 1: 2}
    before = table.latest_snapshot().index_manifest
    write(table, rows(range(6), "b"))
    assert table.latest_snapshot().index_manifest == before, "known keys leave the index as it is"
    write(table, rows(range(4, 11), "c"))
    assert buckets(table) == {0: 4, 1: 4, 2: 3}
    assert {e.total_buckets for e in table.live_files()} == {-1}
    found = by_key(table)
    assert {i: row["v"] for i, row in found.items()} == {
        **dict.fromkeys(range(4), "b"),
        **dict.fromkeys(range(4, 11), "c"),
    }
    check_invariants(table)


def test_deleted_keys_keep_their_bucket(table):
    write(table, rows(range(4), "a"))
    write(table, rows(range(4), None), [DELETE] * 4)
    assert read(table) == []
    compact(table)
    assert table.live_files() == []
    write(table, rows([1, 9], "b"))
    assert buckets(table) == {0: 4, 1: 1}
    assert set(by_key(table)) == {1, 9}
    check_invariants(table)


def test_the_number_of_buckets_has_a_bound(catalog):
    table = make_table(catalog, COLUMNS, ["id"], options={**DYNAMIC, "dynamic-bucket.max-buckets": "2"})
    write(table, rows(range(20), "a"))
    assert buckets(table) == {0: 10, 1: 10}
    check_invariants(table)


def test_partitions_have_buckets_of_their_own(catalog):
    columns = {"dt": "DATE", "hr": "INT", **COLUMNS}
    table = make_table(catalog, columns, ["dt", "hr", "id"], ["dt", "hr"], DYNAMIC)

    days = [date(2024, 1, 1), date(2024, 1, 2)]
    made = [{"dt": d, "hr": h, "id": i, "v": "a"} for d in days for h in (1, 2) for i in range(5)]
    write(table, made)
    assert sorted((e.partition, e.bucket) for e in table.index_files()) == sorted(
        (p, b) for p in {e.partition for e in table.live_files()} for b in (0, 1)
    )
    write(table, made[:7])
    assert len(read(table)) == len(made)
    check_invariants(table)


def test_a_key_may_not_be_a_bucket_key(catalog):
    with pytest.raises(OptionError, match="bucket-key"):
        make_table(catalog, COLUMNS, ["id"], options={**DYNAMIC, "bucket-key": "id"})


def test_table_write_and_statistics(table):
    table.write(arrow_rows(table.schema, rows(range(9), "a")))
    assert table.statistics().buckets == 3
    table.write(arrow_rows(table.schema, rows(range(3, 12), "b")))
    assert len(by_key(table)) == 12
    check_invariants(table)


# -- the index of others ---------------------------------------------------------------------------------


def with_index(table, change):
    """A commit that changes nothing but the index files, as another writer left them."""
    snapshot = table.latest_snapshot()
    name = table.manifests.write_index(change(table.index_files()))
    made = replace(snapshot, id=snapshot.id + 1, index_manifest=name, uuid="x", commit_identifier=snapshot.id)
    assert table.snapshot_store.try_create(made)


def test_a_bucket_without_an_index_is_indexed_from_its_keys(table):
    write(table, rows(range(6), "a"))
    write(table, rows([1, 2], "b"))
    with_index(table, lambda entries: [e for e in entries if e.bucket == 1])
    write(table, rows([0, 4, 6], "c"))
    assert buckets(table) == {0: 4, 1: 3}
    assert {i: r["v"] for i, r in by_key(table).items()} == {
        0: "c",
        1: "b",
        2: "b",
        3: "a",
        4: "c",
        5: "a",
        6: "c",
    }
    check_invariants(table)


def test_an_index_next_to_the_data(catalog):
    table = make_table(catalog, COLUMNS, ["id"], options={**DYNAMIC, "index-file-in-data-file-dir": "true"})
    write(table, rows(range(6), "a"))
    write(table, rows(range(3, 9), "b"))
    assert not os.path.exists(table.paths.index_dir)
    assert len(by_key(table)) == 9
    check_invariants(table)


def test_an_index_elsewhere(table, tmp_path):
    write(table, rows(range(4), "a"))
    (entry,) = table.index_files()
    elsewhere = str(tmp_path / "elsewhere")
    hashes = np.frombuffer(table.io.read(table.paths.index_file(entry.file_name)), ">i4")[::-1]
    write_hashes(table.io, elsewhere, hashes)
    with_index(table, lambda entries: [replace(e, external_path=elsewhere) for e in entries])
    write(table, rows(range(6), "b"))
    assert buckets(table) == {0: 4, 1: 2}
    assert {r["v"] for r in read(table)} == {"b"}


# -- commits ---------------------------------------------------------------------------------------------


def prepared(table, made):
    """A write up to its commit."""
    snapshot = table.latest_snapshot()
    job = new_job(table)
    result = write_table(job, arrow_rows(table.schema, made))
    change = Change("APPEND", tuple(result.entries), index=index_change(job, result))
    return lambda: Committer(table.state).commit(change, identity()), snapshot


def test_two_writers_that_assign_new_keys_conflict(table):
    write(table, rows(range(3), "a"))
    commit, _ = prepared(table, rows([3, 4], "b"))
    write(table, rows([4, 5], "c"))
    with pytest.raises(ConflictError, match="new keys"):
        commit()
    write(table, rows([3, 4], "b"))
    assert {i: r["v"] for i, r in by_key(table).items()} == {0: "a", 1: "a", 2: "a", 3: "b", 4: "b", 5: "c"}
    check_invariants(table)


def test_the_first_two_writers_of_a_table_conflict(table):
    commit, _ = prepared(table, rows([1], "a"))
    write(table, rows([2], "b"))
    with pytest.raises(ConflictError):
        commit()


def test_a_writer_of_known_keys_does_not_conflict_with_one_of_new_keys(table):
    write(table, rows(range(3), "a"))
    commit, _ = prepared(table, rows([0, 1], "b"))
    write(table, rows([2, 3, 4], "c"))
    commit()
    assert {i: r["v"] for i, r in by_key(table).items()} == {0: "b", 1: "b", 2: "c", 3: "c", 4: "c"}
    check_invariants(table)


def test_a_writer_of_known_keys_conflicts_with_an_overwrite(table):
    write(table, rows(range(6), "a"))
    commit, _ = prepared(table, rows([5], "b"))
    write(table, rows([9, 5], "c"), kind="OVERWRITE", job=new_job(table, into_empty=True), replaces=everything)
    with pytest.raises(ConflictError, match="new buckets"):
        commit()


def test_compaction_conflicts_with_no_writer(table):
    write(table, rows(range(6), "a"))
    commit, _ = prepared(table, rows([5, 6, 7], "b"))
    compact(table)
    commit()
    assert len(by_key(table)) == 8
    check_invariants(table)


def test_writers_of_other_partitions_do_not_conflict(catalog):
    table = make_table(catalog, {"p": "INT", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    commit, _ = prepared(table, [{"p": 1, "id": 1, "v": "a"}])
    write(table, [{"p": 2, "id": 1, "v": "b"}])
    commit()
    assert len(table.index_files()) == 2
    check_invariants(table)


# -- overwriting, and what is left over ------------------------------------------------------------------


def test_an_overwrite_begins_anew(table):
    write(table, rows(range(10), "a"))
    job = new_job(table, into_empty=True)
    write(table, rows(range(8, 11), "b"), kind="OVERWRITE", job=job, replaces=everything)
    assert buckets(table) == {0: 3}
    assert set(by_key(table)) == {8, 9, 10}
    check_invariants(table)


def test_truncating_a_partition_removes_its_index(catalog):
    table = make_table(catalog, {"p": "INT", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in (1, 2) for i in range(5)])
    first = min(e.partition for e in table.live_files())
    Committer(table.state).commit(Change("OVERWRITE", replaces=lambda e: e.partition == first), identity())
    assert {e.partition for e in table.index_files()} == {e.partition for e in table.live_files()}
    Committer(table.state).commit(Change("OVERWRITE", replaces=everything), identity())
    assert table.latest_snapshot().index_manifest is None
    write(table, [{"p": 1, "id": 1, "v": "b"}])
    check_invariants(table)


def test_a_replaced_table_has_no_index(catalog, table):
    write(table, rows(range(5), "a"))
    fixed = make_table(catalog, COLUMNS, ["id"], name="other").schema
    replace_empty(catalog.load_table("default", "t").state, fixed)
    assert catalog.load_table("default", "t").index_files() == []


def test_index_files_expire_with_their_snapshots(table):
    for i in range(5):
        write(table, rows(range(i * 3, i * 3 + 3), "a"))
    table.create_tag("second", 2)
    tagged = {e.file_name for e in table.index_files(table.snapshot(2))}
    live = {e.file_name for e in table.index_files()}
    assert table.expire_snapshots(Retention(1, 1, 0, 100)) == 4
    assert set(index_names(table)) == live | tagged
    assert len(read(table, snapshot=table.version("second"))) == 6
    table.delete_tag("second")
    assert set(index_names(table)) == live
    manifests = [n for n in os.listdir(table.paths.manifest_dir) if n.startswith("index-manifest")]
    assert manifests == [table.latest_snapshot().index_manifest]
    check_invariants(table)


def test_orphaned_index_files_are_removed(table):
    write(table, rows(range(5), "a"))
    write(table, rows(range(9), "b"))
    live = index_names(table)
    orphan = table.paths.index_file("index-of-a-dead-writer-0")
    table.io.write(orphan, b"\0\0\0\1")
    assert table.remove_orphan_files(2**62) == [orphan]
    assert index_names(table) == live
    check_invariants(table)


def test_a_failed_write_leaves_no_index_files(table):
    write(table, rows(range(3), "a"))
    before = index_names(table)
    job = new_job(table)
    write_table(job, arrow_rows(table.schema, rows([3, 4], "b")))
    assert len(index_names(table)) == len(before) + 2
    remove_files(job.target)
    assert index_names(table) == before


def test_time_travel_reads_without_the_index(table):
    for number in range(3):
        write(table, rows(range(number * 4, number * 4 + 6), str(number)), [PUT] * 6)
    assert [len(read(table, snapshot=s)) for s in table.snapshots()] == [6, 10, 14]
    assert [buckets(table, s) for s in table.snapshots()] == [
        {0: 4, 1: 2},
        {0: 4, 1: 4, 2: 2},
        {0: 4, 1: 4, 2: 4, 3: 2},
    ]


# -- fixed buckets that differ ---------------------------------------------------------------------------


def test_partitions_keep_their_number_of_buckets(catalog):
    table = make_table(catalog, {"p": "INT", **COLUMNS}, ["p", "id"], ["p"], {"bucket": "2"})
    write(table, [{"p": p, "id": i, "v": "a"} for p in (1, 2) for i in range(20)])

    table = catalog.alter_table("default", "t", [SetOption("bucket", "5")])
    write(table, [{"p": p, "id": i, "v": "b"} for p in (1, 3) for i in range(10, 30)])
    numbers = {partition_of(table, e): e.total_buckets for e in table.live_files()}
    assert numbers == {1: 2, 2: 2, 3: 5}
    assert len(read(table)) == 30 + 20 + 20
    check_invariants(table)
    first = next(e.partition for e in table.live_files() if partition_of(table, e) == 1)
    job = new_job(table, into_empty=True)
    made = [{"p": 1, "id": i, "v": "c"} for i in range(20)]
    write(table, made, kind="OVERWRITE", job=job, replaces=lambda e: e.partition == first)
    assert {partition_of(table, e): e.total_buckets for e in table.live_files()} == {1: 5, 2: 2, 3: 5}
    check_invariants(table)


def partition_of(table, entry):
    return PartitionFormat(table.schema).decode(entry.partition)[0]


def test_a_table_without_partitions_keeps_its_number_too(catalog):
    table = make_table(catalog, COLUMNS, ["id"], options={"bucket": "3"})
    write(table, rows(range(20), "a"))

    table = catalog.alter_table("default", "t", [SetOption("bucket", "7")])
    write(table, rows(range(10, 30), "b"))
    assert {e.total_buckets for e in table.live_files()} == {3}
    assert len(by_key(table)) == 30
    check_invariants(table)


def test_a_write_into_a_partition_that_was_rescaled_meanwhile_conflicts(catalog):
    table = make_table(catalog, COLUMNS, options={"bucket": "2", "bucket-key": "id"})
    write(table, rows(range(20), "a"))
    commit, _ = prepared(table, rows(range(5), "b"))
    job = replace(new_job(table, into_empty=True), total_buckets=4)
    write(table, rows(range(20), "a"), kind="OVERWRITE", job=job, replaces=everything)
    with pytest.raises(ConflictError, match="4 buckets"):
        commit()


# -- keys that cross partitions --------------------------------------------------------------------------


def test_a_key_without_the_partition_needs_dynamic_buckets(catalog):
    columns = {"p": "INT", **COLUMNS}
    with pytest.raises(SchemaError, match=r"must contain all partition columns.*'bucket' = '-1'"):
        make_table(catalog, columns, ["id"], ["p"], {"bucket": "4"})
    with pytest.raises(OptionError, match=r"sequence\.field"):
        make_table(catalog, columns, ["id"], ["p"], {"bucket": "-1", "sequence.field": "v"})
    with pytest.raises(SchemaError, match="partition itself"):
        make_table(catalog, {"q": "INT", **columns}, ["p"], ["p", "q"], {"bucket": "-1"})
    table = make_table(catalog, columns, ["id"], ["p"])
    assert table.schema.core_options.bucket == -1
    assert table.schema.crosses_partitions
    assert not table.schema.has_bucket_index

    with pytest.raises(UserError, match="without Spark"):
        table.write(arrow_rows(table.schema, [{"p": 1, "id": 1, "v": "a"}]))


def test_entries_are_compared_by_what_this_engine_uses():
    assert IndexEntry(b"", 0, "x", "f", 1, 1, global_index={"a": 1}) == IndexEntry(b"", 0, "x", "f", 1, 1)


# -- going back ------------------------------------------------------------------------------------------


def test_rolling_back_brings_the_index_back(table):
    """Another program that writes next finds the keys that came back, in the buckets that they have now."""
    write(table, rows(range(6), "a"))
    write(table, rows(range(100, 106), "b"), kind="OVERWRITE", replaces=everything, job=new_job(table, into_empty=True))
    write(table, rows(range(106, 110), "c"))
    assert table.roll_back(1) is not None
    assert by_key(table).keys() == set(range(6))
    assert buckets(table) == {0: 4, 1: 2}
    check_invariants(table)
    old, new = ({e.file_name for e in table.index_files(s)} for s in (table.snapshot(1), None))
    assert not old & new, "a file that left the table does not come back"
    table.expire_snapshots(Retention(1, 1, 0, 100), int(time.time() * 1000) + 10_000_000)
    assert len(table.snapshots()) == 1
    assert index_names(table) == sorted(new)
    before = table.latest_snapshot().index_manifest
    write(table, rows(range(6), "d"))
    assert table.latest_snapshot().index_manifest == before, "all keys are known"
    assert {row["v"] for row in by_key(table).values()} == {"d"}


def test_index_files_that_are_still_there_stay_when_rolling_back(table):
    write(table, rows(range(4), "a"))
    write(table, rows(range(4), "b"))
    table.roll_back(1)
    assert table.index_files() == table.index_files(table.snapshot(1))
    assert {row["v"] for row in by_key(table).values()} == {"a"}
    check_invariants(table)


def test_a_write_that_began_before_a_roll_back_conflicts(table):
    write(table, rows(range(6), "a"))
    write(table, rows(range(100, 106), "b"), kind="OVERWRITE", replaces=everything, job=new_job(table, into_empty=True))
    latest = table.latest_snapshot()
    job = new_job(table)
    result = write_table(job, arrow_rows(table.schema, rows([100, 200], "c")))
    change = Change("APPEND", tuple(result.entries), base_snapshot_id=latest.id, index=index_change(job, result))
    table.roll_back(1)
    with pytest.raises(ConflictError):
        Committer(table.state).commit(change, identity())
    assert by_key(table).keys() == set(range(6))


def test_a_roll_back_that_counts_on_index_files_conflicts_when_they_go(table):
    """Commits between looking and committing take index files away; they must not be named again."""
    write(table, rows(range(4), "a"))
    kept = tuple(table.index_files())
    change = Change("OVERWRITE", restores=(), index=IndexChange(restores=kept))
    write(table, rows(range(2), "b"), kind="OVERWRITE", replaces=everything, job=new_job(table, into_empty=True))
    with pytest.raises(ConflictError, match="Index file"):
        Committer(table.state).commit(change, identity())
    Committer(table.state).commit(Change("OVERWRITE", replaces=everything), identity())
    assert table.latest_snapshot().index_manifest is None
    with pytest.raises(ConflictError, match="Index file"):
        Committer(table.state).commit(change, identity())


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


# -- what other commits leave alone ----------------------------------------------------------------------


def test_commits_that_change_no_keys_carry_the_index_on(table):
    write(table, rows(range(6), "a"))
    write(table, rows(range(6), "b"))
    before = table.latest_snapshot().index_manifest
    assert compact(table) is not None
    for change in (Change("ANALYZE", statistics="stat-x-0"), Change("COMPACT")):
        Committer(table.state).commit(change, identity())
        assert table.latest_snapshot().index_manifest == before


def test_dropping_a_partition_drops_its_index(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in "xy" for i in range(6)])
    removed = PartitionFormat(table.schema).encode(("x",))
    drop_partitions(table.state, [removed])
    assert {e.partition for e in table.index_files()} == {e.partition for e in table.live_files()}
    assert removed not in {e.partition for e in table.index_files()}
    check_invariants(table)


# -- rows that come in batches ---------------------------------------------------------------------------


def batches(table, *tables):
    return [batch for one in tables for batch in arrow_rows(table.schema, one).to_batches()]


def test_batches_find_keys_where_earlier_ones_put_them(table):
    write(table, rows(range(6), "a"))
    parts = [rows(range(4, 12), "b"), rows(range(8, 14), "c"), rows([0, 13, 14], "d")]
    table.write(iter(batches(table, *parts)))
    expected = dict.fromkeys(range(6), "a")
    for part in parts:
        expected |= {row["id"]: row["v"] for row in part}
    assert {i: row["v"] for i, row in by_key(table).items()} == expected
    assert buckets(table) == {0: 4, 1: 4, 2: 4, 3: 3}
    check_invariants(table)


def test_batches_repair_the_index_of_each_partition(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in "xyz" for i in range(6)])
    Committer(table.state).commit(Change("OVERWRITE", index=IndexChange(restores=())), identity())
    assert table.index_files() == []
    parts = [[{"p": p, "id": i, "v": p} for i in range(5, 8)] for p in "xyx"]
    table.write(iter(batches(table, *parts)))
    found = {(row["p"], row["id"]): row["v"] for row in read(table)}
    touched = {(p, i): p for p in "xy" for i in range(5, 8)}
    assert found == {**{(p, i): "a" for p in "xyz" for i in range(6)}, **touched}
    assert sum(e.row_count for e in table.index_files()) == 16
    assert {e.file_name for e in table.index_files()} <= set(index_names(table))


def test_batches_of_a_table_whose_partitions_have_other_numbers_of_buckets(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], {"bucket": "2"})
    own = PartitionFormat(table.schema).encode(("x",))
    job = replace(new_job(table), partition_buckets={own: 5})
    result = write_table(job, arrow_rows(table.schema, [{"p": "x", "id": i, "v": "a"} for i in range(40)]))
    Committer(table.state).commit(Change("APPEND", tuple(result.entries)), identity())
    part = [{"p": p, "id": i, "v": "b"} for p in "xy" for i in range(40)]
    table.write(iter(batches(table, part)))
    assert {e.total_buckets for e in table.live_files() if e.partition == own} == {5}
    assert {e.total_buckets for e in table.live_files() if e.partition != own} == {2}
    assert len(read(table)) == 80
    check_invariants(table)


def test_batches_of_keys_that_cross_partitions_are_refused(catalog):
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["id"], ["p"], {"bucket": "-1"})
    with pytest.raises(UserError, match="without Spark"):
        table.write(iter(batches(table, [{"p": "x", "id": 1, "v": "a"}])))
    assert table.latest_snapshot() is None


def test_a_failed_write_of_batches_leaves_no_index_files(table):
    write(table, rows(range(6), "a"))
    before = index_names(table)
    bad = arrow_rows(table.schema, rows([7], "b"))
    with pytest.raises(PrimaryKeyError):
        table.write(iter([*bad.to_batches(), *batches(table, [{"id": None, "v": "x"}])]))
    assert index_names(table) == before


def test_a_partition_that_was_not_counted(catalog):
    """Tasks get rows with their buckets; those of a partition whose index nobody asked have any bucket."""
    table = make_table(catalog, {"p": "STRING", **COLUMNS}, ["p", "id"], ["p"], DYNAMIC)
    write(table, [{"p": p, "id": i, "v": "a"} for p in "xy" for i in range(6)])
    job = new_job(table)
    counted = PartitionFormat(table.schema).encode(("x",))
    job = replace(job, dynamic=replace(job.dynamic, sought=frozenset([counted])))
    files = data_files(table)

    def write_to(partition):
        rows = arrow_rows(table.schema, [{"p": partition, "id": 5, "v": "b"}])
        return write_table(job, rows.append_column(BUCKET_COLUMN, pa.array([0], pa.int32())), f"{partition}-")

    with pytest.raises(ConflictError, match="partition p=y only when it ran a second time"):
        write_to("y")
    assert data_files(table) == files
    assert write_to("x").rows_out == write_to("new").rows_out == 1
