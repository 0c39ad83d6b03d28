"""Random histories of a table: writes, compactions, rollbacks, tags, expirations of all kinds, orphans removed.

Whatever happens, each snapshot and each tag that is left reads as it did on the day it was made, and nothing that
they do not need stays on disk once orphans are removed.
"""

from __future__ import annotations

from hypothesis import given, note
from hypothesis import strategies as st
from support.files import data_files, kept_manifests, live_paths
from support.histories import PROFILE
from support.invariants import check_invariants
from support.scratch import scratch_directory
from support.tables import DELETE, PUT, compact, make_table, read, write

from tablestore_engine.errors import SnapshotNotFound
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.metadata_commands import drop_partitions
from tablestore_engine.operation.tags.tag_expire import expire_tags
from tablestore_engine.operation.tags.tags import replace_tag
from tablestore_engine.storage.metadata_files import manifest_store

ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(0, 99), st.sampled_from([PUT, PUT, PUT, DELETE])),
    min_size=1,
    max_size=6,
)
PICK = st.integers(0, 20)
STEPS = (
    st.tuples(st.just("write"), ROWS)
    | st.tuples(st.just("write"), ROWS)
    | st.tuples(
        st.sampled_from(
            ["compact", "full", "rollback", "rollback", "tag", "tag", "retag", "untag", "old tags", "expire", "expire",
             "drop", "orphans"]
        ),
        PICK,
    )
)  # fmt: skip


class Life:
    """A table, and the rows that each of its snapshots had when it was made."""

    def __init__(self, directory, keyed):
        columns = {"p": "STRING", "id": "INT", "v": "INT"}
        options = {
            "write-only": "true",
            "manifest.merge-min-count": "3",
            "num-sorted-run.compaction-trigger": "2",
        }
        self.keyed = keyed
        self.table = make_table(
            directory, columns, ["p", "id"] if keyed else [], ["p"],
            {**options, "bucket": "2"} if keyed else options,
        )  # fmt: skip
        self.rows = {}
        self.tags = {}

    def now(self):
        return sorted(map(str, read(self.table)))

    def take(self, verb, argument):
        getattr(self, verb.replace(" ", "_"))(argument)
        latest = self.table.latest_snapshot()
        if latest is not None and latest.id not in self.rows:
            self.rows[latest.id] = self.now()

    def snapshots(self):
        return [s.id for s in self.table.snapshots()]

    def pick(self, argument, among):
        among = list(among)
        return among[argument % len(among)] if among else None

    def write(self, rows):
        kinds = [kind for *_, kind in rows] if self.keyed else None
        write(self.table, [{"p": p, "id": number, "v": v} for p, number, v, _ in rows], kinds)

    def compact(self, _):
        compact(self.table, full=False)

    def full(self, _):
        compact(self.table)

    def rollback(self, argument):
        to = self.pick(argument, [*self.snapshots(), *self.tags])
        if to is not None:
            wanted = self.rows[self.tags.get(to, to)]
            self.table.roll_back(to)
            assert self.now() == wanted

    def tag(self, argument):
        number, name = self.pick(argument, self.snapshots()), f"t{len(self.rows)}-{argument}"
        if number is not None and name not in self.tags:
            self.table.create_tag(name, number, 1_000 if argument % 2 else None)
            self.tags[name] = number

    def retag(self, argument):
        name, number = self.pick(argument, self.tags), self.pick(argument // 2, self.snapshots())
        if name is not None:
            replace_tag(self.table.state, name, self.table.snapshot(number))
            self.tags[name] = number

    def untag(self, argument):
        name = self.pick(argument, self.tags)
        if name is not None:
            self.table.delete_tag(name)
            del self.tags[name]

    def old_tags(self, _):
        for name in expire_tags(self.table.state, 2**60):
            del self.tags[name]

    def expire(self, argument):
        keep = argument % 3 + 1
        self.table.expire_snapshots(Retention(1, keep, 0, 1_000))
        assert len(self.snapshots()) <= keep

    def drop(self, argument):
        partition_format = PartitionFormat(self.table.schema)
        drop_partitions(self.table.state, {partition_format.encode(("ab"[argument % 2],))})

    def orphans(self, _):
        self.table.remove_orphan_files(2**60)

    def check(self):
        manifest_store._cache.clear()
        table, needed = self.table, set()
        for snapshot in table.snapshots():
            assert sorted(map(str, read(table, snapshot=snapshot))) == self.rows[snapshot.id]
            needed |= live_paths(table, snapshot)
        assert table.tags.names() == sorted(self.tags)
        for name, number in self.tags.items():
            snapshot = table.version(name)
            assert snapshot.id == number
            assert sorted(map(str, read(table, snapshot=snapshot))) == self.rows[number]
            needed |= live_paths(table, snapshot)
        assert data_files(table) == needed, "nothing was killed, so there are no orphans"
        assert {one.name for one in table.io.list(table.paths.manifest_dir)} == kept_manifests(table)
        check_invariants(table)


@PROFILE
@given(st.booleans(), st.lists(STEPS, min_size=3, max_size=14))
def test_lives(keyed, steps):
    with scratch_directory("life-") as directory:
        life = Life(directory, keyed)
        for verb, argument in steps:
            note(f"{verb} {argument}")
            try:
                life.take(verb, argument)
            except SnapshotNotFound:
                assert not life.snapshots(), "there is nothing yet"
            life.check()
