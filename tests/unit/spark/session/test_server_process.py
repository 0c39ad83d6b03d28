"""When a server leaves."""

from __future__ import annotations

import os
import shutil
import threading
from dataclasses import replace

import pytest

from tablestore_engine.spark.session.server_files import Record, ServerFolder, code_identity
from tablestore_engine.spark.session.server_process import Keeper, State, keep, reason_to_leave

IDLE = State(idle=10, idle_limit=60, warehouse_was_there=True, warehouse_is_there=True, same_code=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"idle": 60}, "nobody used it for 1 minutes"),
        ({"same_code": False}, "another version was installed"),
        ({"warehouse_is_there": False}, "the warehouse was removed"),
        ({"warehouse_is_there": False, "warehouse_was_there": False}, None),
    ],
)
def test_reasons_to_leave(change, reason):
    assert reason_to_leave(replace(IDLE, **change)) == reason


class FakeServer:
    """Spark of a server, as far as its keeper knows it."""

    port = 7

    def __init__(self):
        self.ended = 0

    def end_sessions(self):
        self.ended += 1


@pytest.fixture
def keeper(tmp_path):
    warehouse = tmp_path / "w"
    warehouse.mkdir()
    record = Record(
        pid=1,
        port=7,
        token="t",
        warehouse=str(warehouse),
        version="1",
        code=code_identity(),
        started=0,
        idle_seconds=60,
        log="l",
    )
    folder = ServerFolder.make(str(tmp_path), "kind")
    lock = folder.try_life_lock()
    folder.write_record(record)
    found = Keeper(folder, FakeServer(), record, lock)
    found.warehouse = warehouse
    yield found
    os.close(lock)


def test_a_server_stays_as_long_as_it_has_a_client(keeper):
    client = keeper._folder.share_use_lock()
    keeper.warehouse.rmdir()
    assert keeper.step(1e9) is None
    assert keeper._server.ended == 0
    os.close(client)
    assert keeper.step(1e9) == "the warehouse was removed"
    assert keeper._folder.try_use_lock() is None, "no client gets hold of a server that leaves"


def test_it_leaves_when_nobody_used_it_for_long(keeper):
    client = keeper._folder.share_use_lock()
    assert keeper.step(1e6) is None
    os.close(client)
    assert keeper.step(1e6 + 59) is None
    assert keeper.step(1e6 + 60) == "nobody used it for 1 minutes"


def test_sessions_of_clients_that_ended_are_ended_once(keeper):
    steps = [keeper.step(1.0), keeper.step(2.0)]
    client = keeper._folder.share_use_lock()
    steps.append(keeper.step(3.0))
    os.close(client)
    steps += [keeper.step(4.0), keeper.step(5.0)]
    assert steps == [None] * 5
    assert keeper._server.ended == 2


def test_it_leaves_when_spark_connect_ended(keeper):
    keeper._server.port = 8
    assert keeper.step(1.0) == "Spark Connect ended"


def test_a_record_that_was_lost_is_written_again(keeper):
    for damage in (os.unlink, lambda path: open(path, "w").close()):
        damage(os.path.join(keeper._folder.path, "server.json"))
        assert keeper._folder.record() is None
        assert keeper.step(1.0) is None
        assert keeper._folder.record() == keeper._record


def test_it_leaves_when_its_folder_was_removed_and_another_server_has_it(keeper, tmp_path):
    shutil.rmtree(keeper._folder.path)
    assert keeper.step(1.0) == "its folder in the cache was removed"
    folder = ServerFolder.make(str(tmp_path), "kind")
    other = folder.try_life_lock()
    folder.write_record(replace(keeper._record, port=8))
    assert keeper.step(2.0) == "its folder in the cache was removed"
    assert folder.record().port == 8
    os.close(other)


def test_it_leaves_when_it_is_asked_to(monkeypatch):
    monkeypatch.setattr("tablestore_engine.spark.session.server_process._TICK_SECONDS", 0.001)
    stop, steps = threading.Event(), []

    def step(now):
        steps.append(now)
        if len(steps) == 3:
            stop.set()

    assert keep(step, stop) == "it was asked to"
    assert len(steps) == 3
    assert keep(lambda now: "so", threading.Event()) == "so"
