"""The newest snapshot is found whatever the hints say, and damage names its file."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tablestore_engine.errors import CorruptMetadataError, SnapshotNotFound, StorageError
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore

FIRST = Snapshot(1, 0, "b", 1, "d", 1, "user", 1, "APPEND", 1000, 0, 0)


@pytest.fixture
def store(paths):
    return SnapshotStore(LocalFileIO(), paths)


def fill(store, last, first=1):
    for one in range(first, last + 1):
        assert store.try_create(replace(FIRST, id=one, commit_identifier=one * 10, time_millis=one * 1000))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def test_empty_table(store):
    assert store.latest_id() is None
    assert store.earliest_id() is None
    assert store.latest() is None
    assert list(store) == []
    assert store.at_or_before(10**15) is None
    assert store.find_by_identifier("user", 1) is None
    with pytest.raises(SnapshotNotFound, match="no snapshots yet"):
        store.load(1)


def test_created_snapshots_are_found(store, paths):
    fill(store, 3)
    assert (store.earliest_id(), store.latest_id()) == (1, 3)
    assert store.latest().commit_identifier == 30
    assert [one.id for one in store] == [1, 2, 3]
    assert [one.id for one in store.iter(newest_first=True)] == [3, 2, 1]
    assert LocalFileIO().read(paths.latest_hint) == b"3"
    assert LocalFileIO().read(paths.earliest_hint) == b"1"


def test_an_id_is_taken_once(store):
    fill(store, 1)
    assert not store.try_create(replace(FIRST, commit_user="other"))
    assert store.load(1).commit_user == "user"


@pytest.mark.parametrize("hint", [None, "", "rubbish", "0", "-3", "1", "2", "11", "99999999999999999999", "3\n"])
def test_wrong_hints(store, paths, hint):
    fill(store, 12)
    for one in (1, 2, 3):
        os.unlink(paths.snapshot(one))
    for path in (paths.latest_hint, paths.earliest_hint):
        os.unlink(path)
        if hint is not None:
            write(path, hint)
    assert store.latest_id() == 12
    assert store.earliest_id() == 4


@pytest.mark.parametrize("hint", range(1, 13))
def test_any_existing_hint_leads_to_both_ends(store, paths, hint):
    fill(store, 12)
    write(paths.latest_hint, str(hint))
    write(paths.earliest_hint, str(hint))
    assert (store.earliest_id(), store.latest_id()) == (1, 12)


def test_hints_that_cannot_be_written_do_not_matter(store, paths):
    os.makedirs(paths.latest_hint)
    fill(store, 2)
    assert store.latest_id() == 2


def test_missing_snapshot_names_those_that_exist(store, paths):
    fill(store, 5)
    os.unlink(paths.snapshot(1))
    with pytest.raises(SnapshotNotFound, match=r"Snapshot 1 of table \S+ does not exist; there are 2 to 5"):
        store.load(1)
    for one in (2, 3, 4):
        os.unlink(paths.snapshot(one))
    with pytest.raises(SnapshotNotFound, match="only 5"):
        store.load(9)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": 2}', FIRST.to_json()])
def test_damage_names_the_file(store, paths, text):
    fill(store, 2)
    write(paths.snapshot(2), text)
    with pytest.raises(CorruptMetadataError) as caught:
        store.latest()
    assert caught.value.path == paths.snapshot(2)
    assert paths.snapshot(2) in str(caught.value)


def test_leftovers_of_killed_writers_are_not_snapshots(store, paths):
    fill(store, 2)
    write(f"{paths.snapshot_dir}/.snapshot-3.abc.tmp", "half")
    write(f"{paths.snapshot_dir}/snapshot-3.tmp", "half")
    assert store.ids() == [1, 2]
    assert store.latest_id() == 2


@pytest.mark.parametrize(("time", "expected"), [(999, None), (1000, 1), (4500, 4), (8999, 8), (9000, 9), (10**9, 9)])
def test_at_or_before(store, time, expected):
    fill(store, 9)
    found = store.at_or_before(time)
    assert (found.id if found else None) == expected


def test_at_or_before_with_expired_snapshots(store, paths):
    fill(store, 9)
    for one in (1, 2, 3):
        os.unlink(paths.snapshot(one))
    assert store.at_or_before(3500) is None
    assert store.at_or_before(4000).id == 4
    assert store.at_or_before(6999).id == 6


def test_find_by_identifier(store):
    fill(store, 4)
    twice = replace(FIRST, id=5, commit_identifier=20, commit_kind="COMPACT")
    assert store.try_create(twice)
    assert store.find_by_identifier("user", 20).id == 5
    assert store.find_by_identifier("user", 20, kind="APPEND").id == 2
    assert store.find_by_identifier("user", 20, kind="APPEND", after=2) is None
    assert store.find_by_identifier("other", 20) is None


class Vanishing(LocalFileIO):
    """Every listing still shows what expires right after it."""

    def list(self, path):
        found = super().list(path)
        removed = next((one for one in found if one.name == "snapshot-1"), None)
        if removed:
            os.unlink(removed.path)
        return found


def test_snapshots_that_expire_while_they_are_listed(store, paths):
    fill(store, 3)
    assert [one.id for one in SnapshotStore(Vanishing(), paths)] == [2, 3]


def test_storage_failures_are_not_taken_for_absence(store, paths):
    fill(store, 1)
    os.unlink(paths.snapshot(1))
    os.makedirs(paths.snapshot(1))
    with pytest.raises(StorageError):
        store.load(1)


def test_racing_committers_make_contiguous_snapshots(paths):
    def commit(user):
        store, made = SnapshotStore(LocalFileIO(), paths), 0
        while made < 15:
            following = (store.latest_id() or 0) + 1
            made += store.try_create(replace(FIRST, id=following, commit_user=user, commit_identifier=made))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(commit, "abcd"))
    store = SnapshotStore(LocalFileIO(), paths)
    assert store.ids() == list(range(1, 61))
    assert store.latest_id() == 60
    found = {(one.commit_user, one.commit_identifier) for one in store}
    assert found == {(user, number) for user in "abcd" for number in range(15)}


class SlowCreator(LocalFileIO):
    """Does something else between the creation of a snapshot and what comes after it."""

    def __init__(self, meanwhile):
        super().__init__()
        object.__setattr__(self, "meanwhile", meanwhile)

    def create(self, path, data):
        created = super().create(path, data)
        self.meanwhile()
        return created


def test_a_first_snapshot_stays_when_others_come_before_its_writer_looks(paths):
    others = SnapshotStore(LocalFileIO(), paths)

    def commit_two():
        assert others.try_create(replace(FIRST, id=2, commit_user="other"))
        assert others.try_create(replace(FIRST, id=3, commit_user="other"))

    assert SnapshotStore(SlowCreator(commit_two), paths).try_create(FIRST)
    assert others.ids() == [1, 2, 3]


def test_a_snapshot_stays_when_the_one_before_it_expires_before_its_writer_looks(store, paths):
    assert store.try_create(FIRST)
    assert store.try_create(replace(FIRST, id=2))

    def commit_and_expire():
        for one in (4, 5):
            assert store.try_create(replace(FIRST, id=one))
        store.write_earliest_hint(3)
        os.remove(paths.snapshot(1))
        os.remove(paths.snapshot(2))

    assert SnapshotStore(SlowCreator(commit_and_expire), paths).try_create(replace(FIRST, id=3))
    assert store.ids() == [3, 4, 5]


def test_an_id_that_has_expired_is_not_given_again(store, paths):
    for one in (1, 2, 3, 4):
        assert store.try_create(replace(FIRST, id=one))
    for one in (1, 2, 3):
        os.remove(paths.snapshot(one))
    for late in (1, 2, 3):
        assert not store.try_create(replace(FIRST, id=late, commit_user="late"))
        assert store.ids() == [4]
        assert store.latest_id() == 4
    assert store.try_create(replace(FIRST, id=5))
    assert store.ids() == [4, 5]
