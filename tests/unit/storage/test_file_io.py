"""Files appear whole, one of many creators wins, and failures name the path."""

from __future__ import annotations

import errno
import os
import pickle
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from tablestore_engine.errors import StorageError
from tablestore_engine.storage import file_io
from tablestore_engine.storage.exclusive_rename import rename_exclusively
from tablestore_engine.storage.file_io import LocalFileIO

IO = LocalFileIO()


def names(path):
    return sorted(os.listdir(path))


def test_write_create_read(folder):
    path = f"{folder}/a/b/file"
    assert not IO.exists(path)
    assert IO.create(path, b"one")
    assert not IO.create(path, b"two")
    assert IO.read(path) == b"one"
    IO.write(path, b"three")
    assert IO.read(path) == b"three"
    assert IO.size(path) == 5
    assert names(f"{folder}/a/b") == ["file"]
    assert IO.delete(path)
    assert not IO.delete(path)


def test_can_be_pickled():
    assert pickle.loads(pickle.dumps(LocalFileIO())) == LocalFileIO()


def test_list(folder):
    assert IO.list(f"{folder}/none") == []
    IO.write(f"{folder}/b", b"12")
    IO.mkdirs(f"{folder}/a/x")
    first, second = IO.list(folder)
    assert (first.name, first.is_dir, first.size) == ("a", True, 0)
    assert (second.name, second.is_dir, second.size) == ("b", False, 2)
    assert second.path == f"{folder}/b"
    assert abs(second.mtime_millis - os.stat(second.path).st_mtime * 1000) < 2
    assert IO.list(f"{folder}/b") == []


def test_delete_tree(folder):
    IO.write(f"{folder}/t/a/b", b"")
    assert IO.delete_tree(f"{folder}/t")
    assert not IO.exists(f"{folder}/t")
    assert not IO.delete_tree(f"{folder}/t")


def test_rename(folder):
    IO.write(f"{folder}/src/f", b"1")
    assert IO.rename(f"{folder}/src", f"{folder}/deep/dst")
    assert IO.read(f"{folder}/deep/dst/f") == b"1"
    IO.write(f"{folder}/src/f", b"2")
    assert not IO.rename(f"{folder}/src", f"{folder}/deep/dst")
    assert IO.read(f"{folder}/deep/dst/f") == b"1"
    IO.write(f"{folder}/one", b"1")
    IO.write(f"{folder}/two", b"2")
    assert not IO.rename(f"{folder}/one", f"{folder}/two")
    assert IO.rename(f"{folder}/one", f"{folder}/three")
    assert names(folder) == ["deep", "src", "three", "two"]


def test_streams(folder):
    with IO.open_output(f"{folder}/d/file") as out:
        out.write(b"hello")
    with IO.open_input(f"{folder}/d/file") as source:
        source.seek(1)
        assert source.read() == b"ello"
    assert IO.local_path(f"{folder}/d/file") == f"{folder}/d/file"


def test_failures_name_the_path(folder):
    with pytest.raises(StorageError) as caught:
        IO.read(f"{folder}/none")
    assert caught.value.missing
    assert caught.value.path == f"{folder}/none"
    IO.write(f"{folder}/file", b"")
    for action in (
        lambda: IO.write(f"{folder}/file/below", b""),
        lambda: IO.create(f"{folder}/file/below", b""),
        lambda: IO.mkdirs(f"{folder}/file"),
        lambda: IO.size(f"{folder}/none"),
        lambda: IO.open_input(f"{folder}/none"),
        lambda: IO.rename(f"{folder}/none", f"{folder}/other"),
    ):
        with pytest.raises(StorageError, match=folder):
            action()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_missing_rights_are_explained(folder):
    os.chmod(folder, 0o500)
    with pytest.raises(StorageError, match="may read and write there"):
        IO.write(f"{folder}/file", b"")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(folder, monkeypatch):
    IO.write(f"{folder}/file", b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for name in ("replace", "link"):
        monkeypatch.setattr(os, name, fail)
    with pytest.raises(StorageError, match="No space left"):
        IO.write(f"{folder}/file", b"new")
    with pytest.raises(StorageError, match="No space left"):
        IO.create(f"{folder}/other", b"new")
    assert names(folder) == ["file"]
    assert IO.read(f"{folder}/file") == b"old"


def _no_links(*_):
    raise OSError(errno.EPERM, "Operation not permitted")


def _no_renames(*_):
    return None


def _without_links(monkeypatch, renames):
    monkeypatch.setattr(os, "link", _no_links)
    if not renames:
        monkeypatch.setattr(file_io, "rename_exclusively", _no_renames)


@pytest.mark.parametrize("renames", [True, False], ids=["renames", "no renames"])
def test_create_without_hard_links(folder, monkeypatch, renames):
    _without_links(monkeypatch, renames)
    assert IO.create(f"{folder}/file", b"one")
    monkeypatch.setattr(os.path, "lexists", lambda _: False)
    assert not IO.create(f"{folder}/file", b"two")
    assert IO.read(f"{folder}/file") == b"one"
    assert names(folder) == ["file"]


def test_a_link_whose_answer_was_lost_counts(folder, monkeypatch):
    link = os.link

    def lose_the_answer(source, target):
        link(source, target)
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", lose_the_answer)
    assert IO.create(f"{folder}/file", b"one")


def _race_threads(directory, contenders):
    barrier = threading.Barrier(contenders)

    def create(number):
        barrier.wait()
        return IO.create(f"{directory}/file", f"{number}".encode() * 10_000)

    with ThreadPoolExecutor(contenders) as pool:
        return list(pool.map(create, range(contenders)))


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="the system has no such call")
def test_without_hard_links_no_reader_sees_half_a_file(folder, monkeypatch):
    monkeypatch.setattr(os, "link", _no_links)
    opened = []
    real = os.open
    with monkeypatch.context() as watched:
        watched.setattr(os, "open", lambda path, *rest, **named: opened.append(path) or real(path, *rest, **named))
        assert IO.create(f"{folder}/file", b"one")
        assert IO.rename(f"{folder}/file", f"{folder}/moved")
        assert IO.create(f"{folder}/file", b"two")
        assert not IO.rename(f"{folder}/file", f"{folder}/moved")
    assert (IO.read(f"{folder}/moved"), IO.read(f"{folder}/file")) == (b"one", b"two")
    # Nothing but the hidden file was ever written to.
    assert all(os.path.basename(path).startswith(".") for path in opened)


def test_a_rename_that_fails_is_no_answer(folder):
    with pytest.raises(OSError, match="No such file"):
        rename_exclusively(f"{folder}/none", f"{folder}/file")


@pytest.mark.parametrize("how", ["links", "renames", "neither"])
def test_one_of_many_threads_creates(folder, monkeypatch, how):
    if how != "links":
        _without_links(monkeypatch, how == "renames")
    monkeypatch.setattr(os.path, "lexists", lambda _: False)  # everybody gets as far as the decision
    for attempt in range(20):
        directory = f"{folder}/{attempt}"
        won = _race_threads(directory, 8)
        assert sum(won) == 1
        assert IO.read(f"{directory}/file") == f"{won.index(True)}".encode() * 10_000
        assert names(directory) == ["file"]


def _create_all(folder, number, count):
    io = LocalFileIO()
    return [io.create(f"{folder}/file-{one}", f"{number}".encode() * 5_000) for one in range(count)]


def test_one_of_many_processes_creates(folder):
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(_create_all, folder, number, 200) for number in range(4)]
        results = [job.result() for job in jobs]
    for one in range(200):
        winners = [number for number in range(4) if results[number][one]]
        assert len(winners) == 1
        assert IO.read(f"{folder}/file-{one}") == f"{winners[0]}".encode() * 5_000
    assert len(names(folder)) == 200


def test_readers_never_see_half_a_file(folder):
    path, size, done = f"{folder}/file", 300_000, threading.Event()
    IO.write(path, b"0" * size)

    def rewrite():
        for number in range(60):
            IO.write(path, str(number % 10).encode() * size)
        done.set()

    writer = threading.Thread(target=rewrite)
    writer.start()
    while not done.is_set():
        data = IO.read(path)
        assert len(data) == size
        assert len(set(data)) == 1
    writer.join()


def test_one_of_many_renames_wins(folder):
    for attempt in range(20):
        barrier = threading.Barrier(4)

        def rename(number, attempt=attempt, barrier=barrier):
            IO.write(f"{folder}/{attempt}-{number}/schema/schema-0", str(number).encode())
            barrier.wait()
            return IO.rename(f"{folder}/{attempt}-{number}", f"{folder}/table-{attempt}")

        with ThreadPoolExecutor(4) as pool:
            won = list(pool.map(rename, range(4)))
        assert sum(won) == 1
        assert IO.read(f"{folder}/table-{attempt}/schema/schema-0") == str(won.index(True)).encode()


def test_the_root_of_a_table_is_not_made_again(tmp_path):
    root = tmp_path / "a.db" / "t"
    io = LocalFileIO(root=str(root))
    below = str(root / "p=1" / "bucket-0" / "f")
    attempts = (
        lambda: io.write(below, b"x"),
        lambda: io.create(below, b"x"),
        lambda: io.open_output(below),
        lambda: io.mkdirs(below),
    )
    for attempt in attempts:
        with pytest.raises(StorageError, match=r"others dropped or renamed the table meanwhile.* Nothing was written"):
            attempt()
    assert list(tmp_path.iterdir()) == []
    io.write(f"{root}2/f", b"x")  # another table, whose name begins with this one's
    root.mkdir(parents=True)
    io.open_output(below).close()
    io.mkdirs(str(root / "p=2" / "bucket-0"))
    io.mkdirs(str(root / "p=2" / "bucket-0"))
    io.write(str(tmp_path / "elsewhere" / "f"), b"x")
    assert io.create(below, b"x") is False
    assert sorted(one.name for one in root.iterdir()) == ["p=1", "p=2"]
