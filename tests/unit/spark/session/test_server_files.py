"""Which processes share a server, and the files by which they find it."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import replace

import pytest

from tablestore_engine.spark.session import server_files
from tablestore_engine.spark.session.server_files import (
    Record,
    ServerFolder,
    code_identity,
    kind_of_server,
    start_settings,
    wish_of,
    wish_text,
)
from tablestore_engine.spark.session.session_config import SessionConfig

WISH = SessionConfig(shared="/w", spark_config={"spark.driver.memory": "1g"})
RECORD = Record(
    pid=1, port=2, token="secret", warehouse="/w", version="1", code="c", started=3.5, idle_seconds=60, log="/log"
)


def kind(config=WISH, environ=None, code="code"):
    return kind_of_server(config, environ or {}, code)


@pytest.mark.parametrize(
    "other",
    [
        replace(WISH, shared="/v"),
        replace(WISH, master="local[3]"),
        replace(WISH, class_data_sharing=False),
        replace(WISH, spark_config={"spark.driver.memory": "2g"}),
        replace(WISH, spark_config={**WISH.spark_config, "spark.sql.extensions": "x.Y"}),
    ],
    ids=["warehouse", "master", "classes", "memory", "extensions"],
)
def test_start_settings_need_another_server(other):
    assert kind(other) != kind()


@pytest.mark.parametrize(
    "other",
    [
        replace(WISH, spark_config={**WISH.spark_config, "spark.sql.shuffle.partitions": "3"}),
        replace(WISH, app_name="other"),
        replace(WISH, idle_minutes=1),
    ],
    ids=["partitions", "name", "minutes"],
)
def test_session_settings_share_a_server(other):
    assert kind(other) == kind()


def test_other_code_and_another_environment_need_another_server():
    assert kind(code="edited") != kind()
    assert kind(environ={"TZ": "Asia/Tokyo"}) != kind()
    assert kind(environ={"PYTHONPATH": "/mine"}) != kind()
    assert (
        kind(environ={"PYSPARK_PYTHON": sys.executable, "SPARK_CONNECT_MODE_ENABLED": "1", "SPARK_BUFFER_SIZE": "1"})
        == kind()
    )


def test_settings_of_the_start_are_not_those_of_sessions():
    settings = {"spark.sql.ansi.enabled": "false", "spark.sql.warehouse.dir": "/x", "spark.executor.memory": "1g"}
    assert start_settings(settings) == {"spark.sql.warehouse.dir": "/x", "spark.executor.memory": "1g"}


def test_the_identity_of_the_code_changes_with_an_edit(tmp_path, monkeypatch):
    monkeypatch.setattr(server_files, "ENGINE", str(tmp_path))
    room = tmp_path / "room"
    room.mkdir()
    (room / "module.py").write_text("a = 1")
    before = code_identity()
    (room / "__pycache__").mkdir()
    (room / "__pycache__" / "module.py").write_text("made by Python")
    (room / "notes.txt").write_text("not code")
    assert code_identity() == before
    (room / "other.py").write_text("")
    more = code_identity()
    (room / "module.py").write_text("a = 10")
    assert len({before, more, code_identity()}) == 3


def test_a_wish_travels_as_text():
    assert wish_of(wish_text(WISH)) == WISH


@pytest.fixture
def folder(tmp_path):
    return ServerFolder.make(str(tmp_path), "kind")


def test_the_record_is_for_its_owner_only(folder):
    os.umask(os.umask(0))
    folder.write_record(RECORD)
    assert folder.record() == RECORD
    modes = [stat.S_IMODE(os.stat(path).st_mode) for path in (folder.path, os.path.join(folder.path, "server.json"))]
    assert modes == [0o700, 0o600]
    assert RECORD.url == "sc://localhost:2/;token=secret"


def test_a_record_that_is_damaged_or_of_another_version_is_none(folder):
    assert folder.record() is None
    for text in ("", "{}", '{"pid": 1}', "[]"):
        with open(os.path.join(folder.path, "server.json"), "w", encoding="utf-8") as file:
            file.write(text)
        assert folder.record() is None


def test_one_server_lives_at_a_time(folder):
    assert not folder.is_alive()
    lock = folder.try_life_lock()
    assert lock is not None
    assert folder.try_life_lock() is None
    assert folder.is_alive()
    os.close(lock)
    assert not folder.is_alive()


def test_clients_share_what_the_server_takes_alone(folder):
    first, second = folder.share_use_lock(), folder.share_use_lock()
    assert folder.try_use_lock() is None
    os.close(first)
    assert folder.try_use_lock() is None
    os.close(second)
    lock = folder.try_use_lock()
    assert lock is not None
    os.close(lock)
