"""Finding, starting and ending a server that is a process without Spark."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from tablestore_engine.errors import EnvironmentProblem, ServerInUseError
from tablestore_engine.spark.session import server_client
from tablestore_engine.spark.session.server_client import (
    attach,
    ended_server,
    has_ended,
    living_servers,
    stop_server,
)
from tablestore_engine.spark.session.server_files import ServerFolder, code_identity
from tablestore_engine.spark.session.session_config import SessionConfig

# Listens, says so, and ends when it is asked to; {mode} makes it fail.
PROGRAM = """
import os, socket, sys, time
sys.path.insert(0, {root!r})
from tablestore_engine.spark.session.server_files import Record, ServerFolder
folder, mode = ServerFolder({folder!r}), {mode!r}
if mode == "fails":
    folder.write_failure("Spark did not start: no room.")
if mode != "runs":
    sys.exit(1)
listener = socket.create_server(("127.0.0.1", 0))
folder.write_record(Record(pid=os.getpid(), port=listener.getsockname()[1], token="t", warehouse={warehouse!r},
    version="1", code={code!r}, started=time.time(), idle_seconds=60, log="log"))
time.sleep(120)
"""
ROOT = os.path.dirname(server_client.ENGINE)


@pytest.fixture
def launched(monkeypatch):
    """The processes that were started; they are ended, and this process's locks are released, when the test ends."""
    started = []
    monkeypatch.setattr(server_client, "_uses", {})
    monkeypatch.setattr(server_client, "_found", {})
    yield started
    for descriptor in server_client._uses.values():
        os.close(descriptor)
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def find(launched, tmp_path):
    def launch_as(mode):
        def launch(folder, config, lock, log):
            text = PROGRAM.format(
                root=ROOT, folder=folder.path, mode=mode, warehouse=config.shared, code=code_identity()
            )
            launched.append(subprocess.Popen([sys.executable, "-c", text], pass_fds=[lock]))

        return launch

    def call(mode="runs", **wish):
        return attach(SessionConfig(shared="/w", cache_dir=str(tmp_path / "c"), **wish), {}, launch_as(mode))

    return call


def test_the_first_starts_a_server_and_others_find_it(find, launched, tmp_path):
    first = find()
    assert find() == first
    assert len(launched) == 1
    (server,) = living_servers(str(tmp_path / "c"), "/w")
    assert (server.record, server.in_use) == (first, True)
    assert living_servers(str(tmp_path / "c"), "/other") == []


def test_other_settings_need_another_server_unless_any_will_do(find, launched):
    first = find()
    assert find(master="local[1]") != first
    assert find(any_settings=True) in (first, find(master="local[1]"))
    assert len(launched) == 2


def test_a_killed_server_is_replaced(find, launched):
    assert ended_server() is None
    first = find()
    assert (has_ended(first.url), ended_server()) == (False, None)
    launched[0].kill()
    launched[0].wait()
    assert has_ended(first.url)
    assert "Run the statement again" in str(ended_server())
    second = find()
    assert second.pid != first.pid
    assert ended_server() is None
    assert (has_ended(first.url), has_ended(second.url)) == (True, False)
    assert len(launched) == 2


def test_a_start_that_fails_says_why_and_is_tried_again(find, launched):
    with pytest.raises(EnvironmentProblem, match=r"Spark did not start: no room\."):
        find("fails")
    with pytest.raises(EnvironmentProblem, match=r"ended while it started.* Its log: .*server-"):
        find("dies")
    assert find().pid == launched[-1].pid
    assert len(launched) == 3


def test_a_folder_of_the_cache_that_cannot_be_used_is_named(find, tmp_path):
    (tmp_path / "c").mkdir()
    for name in ("servers", "logs"):
        in_the_way = tmp_path / "c" / name
        in_the_way.write_text("")
        with pytest.raises(EnvironmentProblem, match=rf"cannot use .*/c/{name}.*: .*XDG_CACHE_HOME"):
            find()
        in_the_way.unlink()
    (tmp_path / "c" / "servers" / "a file").write_text("")
    assert find().port


def test_a_server_in_use_is_stopped_by_force_only(find, launched, tmp_path):
    find()
    (server,) = living_servers(str(tmp_path / "c"))
    with pytest.raises(ServerInUseError, match="in use"):
        stop_server(server)
    assert launched[0].poll() is None
    stop_server(server, force=True)
    assert launched[0].wait() == -signal.SIGTERM
    assert living_servers(str(tmp_path / "c")) == []


def test_folders_of_servers_that_ended_long_ago_are_removed(find, tmp_path):
    old, lately = (ServerFolder.make(str(tmp_path / "c"), name) for name in ("old", "lately"))
    for folder in (old, lately):
        os.close(folder.share_use_lock())
    old.note_use(time.time() - 2 * 24 * 3600)
    os.chmod(tmp_path / "c", 0o700)
    find()
    assert not os.path.exists(old.path)
    assert os.path.exists(lately.path)


def test_a_folder_that_a_client_has_just_taken_stays(tmp_path):
    folder = ServerFolder.make(str(tmp_path), "old")
    lock = folder.share_use_lock()
    folder.note_use(time.time() - 2 * 24 * 3600)
    folder.remove_unused()
    assert folder.try_use_lock() is None
    os.close(lock)
    folder.remove_unused()
    folder.remove_unused()
    assert not os.path.exists(folder.path)


def test_a_client_that_waits_while_its_folder_is_removed_makes_it_again(tmp_path):
    folder, found = ServerFolder.make(str(tmp_path), "old"), []
    alone = folder.try_use_lock()
    client = threading.Thread(target=lambda: found.append(folder.share_use_lock()))
    client.start()
    time.sleep(0.05)  # it waits for the lock
    shutil.rmtree(folder.path)
    os.close(alone)
    client.join(10)
    assert folder.try_use_lock() is None, "the client holds it"
    os.close(found[0])
    assert not folder.is_alive()


def test_unusable_masters_and_cache_folders_are_refused(tmp_path):
    with pytest.raises(EnvironmentProblem, match="spark://host"):
        attach(SessionConfig(shared="/w", master="spark://host"), {})
    (tmp_path / "c").mkdir()
    os.chmod(tmp_path / "c", 0o777)
    with pytest.raises(EnvironmentProblem, match="only this user can write"):
        attach(SessionConfig(shared="/w", cache_dir=str(tmp_path / "c")), {})
