"""Many tags: what they cost when snapshots expire, and that none is ever damaged."""

from __future__ import annotations

import os
import random

import pytest
from support.files import data_files, live_paths
from support.soak import seeds
from support.tables import DELETE, compact, identity, keyed_table, make_table, read, schema_of, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.expiration.snapshot_expire import Retention
from tablestore_engine.operation.table_commands.metadata_commands import replace_empty
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files import manifest_store

COLUMNS = {"id": "INT", "v": "INT"}
OPTIONS = {"bucket": "1", "write-only": "true", "manifest.merge-min-count": "2"}


class Counting(LocalFileIO):
    """Remembers which manifests and lists it read."""

    reads: list[str] = []  # noqa: RUF012 - of one test at a time

    def read(self, path):
        if "/manifest/" in path:
            self.reads.append(path)
        return super().read(path)


def reads_of(table, action):
    manifest_store._cache.clear()
    Counting.reads.clear()
    action(Catalog(table.path.removesuffix("/default.db/t"), Counting()).load_table("default", "t"))
    return len(Counting.reads)


def tagged_every_day(directory, days):
    """A table of which each snapshot has a tag, and only the last two still exist."""
    table = keyed_table(directory, OPTIONS)
    for day in range(days):
        write(table, [{"id": day, "v": day}])
        table.create_tag(f"day-{day:02}")
    write(table, [{"id": 0, "v": days}])
    compact(table)
    table.expire_snapshots(Retention(2, 2, 0, 1_000))
    return table


def keep_one(table):
    assert table.expire_snapshots(Retention(1, 1, 0, 1_000)) == 1


def test_the_number_of_tags_does_not_matter(tmp_path):
    few, many = (tagged_every_day(tmp_path / str(days), days) for days in (3, 24))
    removed = {len(data_files(one)) for one in (few, many)}
    assert reads_of(few, keep_one) == reads_of(many, keep_one) < 12
    assert {len(data_files(one)) for one in (few, many)} != removed
    for table, days in ((few, 3), (many, 24)):
        for day in range(days):
            manifest_store._cache.clear()
            assert len(read(table, snapshot=table.version(f"day-{day:02}"))) == day + 1


def test_nor_when_one_of_them_goes(tmp_path):
    few, many = (tagged_every_day(tmp_path / str(days), days) for days in (3, 24))
    counts = [reads_of(one, lambda table: table.delete_tag("day-01")) for one in (few, many)]
    assert counts[0] == counts[1] <= 12


# -- no tag is ever damaged ----------------------------------------------------------------------------


class History:
    """A table in which anything happens, and the rows that each snapshot had when it was made."""

    def __init__(self, directory, seed):
        self.random = random.Random(seed)
        self.catalog = Catalog(directory)
        self.table = make_table(self.catalog, COLUMNS, ["id"], options=OPTIONS)
        self.rows, self.tags = {}, {}

    def note(self):
        latest = self.table.latest_snapshot()
        if latest is not None:
            self.rows.setdefault(latest.id, self.read(latest))

    def read(self, snapshot):
        schema = self.table.schema_of(snapshot)
        found = self.table.with_schema(schema).to_arrow(snapshot=snapshot)
        return sorted(map(str, found.to_pylist()))

    def write(self):
        ids = [self.random.randrange(6) for _ in range(3)]
        kinds = [self.random.choice([0, 0, DELETE]) for _ in ids]
        write(self.table, [{"id": n, "v": self.random.randrange(99)} for n in ids], kinds)

    def overwrite(self):
        write(self.table, [{"id": 1, "v": 1}], kind="OVERWRITE", replaces=lambda entry: True)

    def compact(self):
        compact(self.table, full=self.random.random() < 0.5)

    def analyze(self):
        """Statistics, which later snapshots go on naming."""
        snapshot = self.table.latest_snapshot()
        if snapshot is not None:
            name = self.table.paths.new_statistics_name(f"{snapshot.id}")
            self.table.io.write(self.table.paths.statistics(name), b"{}")
            Committer(self.table.state).commit(Change("ANALYZE", statistics=name), identity())

    def replace(self):
        """Another table under the same name, whose manifests begin afresh where its partitions are others."""
        keys = self.random.choice([[], ["v"]])
        replace_empty(self.table.state, schema_of(COLUMNS, ["id", *keys], keys, OPTIONS))
        self.table = self.catalog.load_table("default", "t")

    def rollback(self):
        there = [s.id for s in self.table.snapshots()] + list(self.tags)
        if there:
            self.table.roll_back(self.random.choice(there))
            self.table = self.catalog.load_table("default", "t")

    def tag(self):
        there = [s.id for s in self.table.snapshots()]
        if there:
            number, name = self.random.choice(there), f"t{self.random.randrange(2**40)}"
            self.table.create_tag(name, number)
            self.tags[name] = number

    def untag(self):
        if self.tags:
            name = self.random.choice(list(self.tags))
            self.table.delete_tag(name)
            del self.tags[name]

    def die(self):
        """A tag that comes too late, of a maker that is killed."""
        there = self.table.snapshots()
        if len(there) > 1 and there[0].id not in self.tags.values():
            self.table.expire_snapshots(Retention(1, len(there) - 1, 0, 1_000))
            self.table.tags.create(f"dead-{self.random.randrange(2**40)}", there[0])

    def expire(self):
        keep = self.random.randint(1, 4)
        self.table.expire_snapshots(Retention(1, keep, 0, self.random.randint(1, 3)))

    def check(self):
        manifest_store._cache.clear()
        needed, lists, statistics = set(), set(), set()
        for snapshot in [*self.table.snapshots(), *(self.table.version(name) for name in self.tags)]:
            table = self.table.with_schema(self.table.schema_of(snapshot))
            assert self.read(snapshot) == self.rows[snapshot.id]
            needed |= live_paths(table, snapshot)
            named = {snapshot.base_manifest_list, snapshot.delta_manifest_list}
            lists |= named | {m.file_name for name in named for m in table.manifests.read_list(name)}
            statistics |= {snapshot.statistics} - {None}
        assert {one.name for one in self.table.io.list(self.table.paths.statistics_dir)} == statistics
        assert data_files(self.table) == needed
        assert set(os.listdir(self.table.paths.manifest_dir)) == lists


STEPS = (
    ["write"] * 5 + ["compact", "overwrite", "analyze", "replace", "rollback", "untag", "die"] + ["tag", "expire"] * 3
)


@pytest.mark.parametrize("seed", seeds(2, 12))
def test_no_tag_is_ever_damaged_and_nothing_is_left(tmp_path, seed):
    history = History(tmp_path, seed)
    history.write()
    taken = []
    for _ in range(30):
        step = history.random.choice(STEPS)
        taken.append(step)
        history.note()
        getattr(history, step)()
        history.note()
        history.check()
    assert {"tag", "expire"} <= set(taken)
