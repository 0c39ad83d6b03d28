"""What a session is prepared with, without Spark."""

from __future__ import annotations

import importlib
from types import SimpleNamespace

import pytest

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session import server_client, session
from tablestore_engine.spark.session.session import prepare_session, restore_settings, start_session
from tablestore_engine.spark.session.session_config import REQUIRED_SETTINGS, SessionConfig


class Spark:
    """A session of a server, whose own settings are those of RESET."""

    def __init__(self):
        self.settings = {}
        self.conf = self

    def isModifiable(self, key):
        return True

    def set(self, key, value):
        self.settings[key] = value


ZONE, PARTITIONS, ANSI = "spark.sql.session.timeZone", "spark.sql.shuffle.partitions", "spark.sql.ansi.enabled"
GIVEN = {ZONE: "America/New_York", PARTITIONS: "2", "spark.driver.memory": "1g"}


@pytest.mark.parametrize(
    ("reset", "left"),
    [
        (None, {ZONE: "America/New_York", PARTITIONS: "2"}),
        (PARTITIONS, {ZONE: "Etc/UTC", PARTITIONS: "2", ANSI: "false"}),
        (ANSI, {ZONE: "Etc/UTC", PARTITIONS: "7"}),
    ],
)
def test_a_reset_brings_back_what_the_session_was_prepared_with(reset, left):
    spark = Spark()
    prepare_session(spark, GIVEN)
    assert spark.settings == {**REQUIRED_SETTINGS, ZONE: "America/New_York", PARTITIONS: "2"}
    prepare_session(spark)  # by a store
    spark.settings |= {ZONE: "Etc/UTC", PARTITIONS: "7", ANSI: "false"}
    for key in list(spark.settings):
        if reset in (None, key):
            del spark.settings[key]
    restore_settings(spark, reset)
    assert spark.settings == {**REQUIRED_SETTINGS, **left}


def test_a_shared_session_needs_packages_that_can_be_imported(monkeypatch, tmp_path):
    (tmp_path / "broken_grpc.py").write_text("raise ImportError('another system')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(session, "_connect_packages", lambda: ("json", "broken_grpc", "absent_grpc"))
    with pytest.raises(EnvironmentProblem, match=r"imported: broken_grpc, absent_grpc\. .*dbt-tablestore\[connect\]"):
        start_session(SessionConfig(shared=str(tmp_path)))


@pytest.mark.parametrize("ended", [False, True])
def test_a_session_of_spark_connect_is_the_running_one(monkeypatch, ended):
    """PySpark starts no Java next to one."""
    importlib.import_module("pyspark.sql")
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)  # other tests may have started one
    spark = Spark()
    root = session._Root(spark, SessionConfig(remote="sc://localhost:1", shared="/w"))
    monkeypatch.setattr(session, "_roots", {id(spark): root})
    monkeypatch.setattr(session, "server_ended", lambda one: ended)
    monkeypatch.setattr(session, "start_classic", lambda config: "another")
    assert start_session() == ("another" if ended else spark)
    assert root.users == (1 if ended else 2)


def test_sessions_of_a_shared_server_that_ended_are_closed_when_another_one_is_found(monkeypatch):
    class Connected(Spark):
        is_stopped, release_session_on_close = False, True

        def stop(self):
            assert not self.release_session_on_close, "a server that has ended is asked to release a session"
            self.is_stopped = True

    class Broken(Connected):
        def stop(self):
            super().stop()
            raise ValueError("the channel is closed")

    ended, broken, other, living = Connected(), Broken(), Connected(), Connected()
    urls = {broken: "sc://dead", ended: "sc://dead", other: "sc://other", living: "sc://new"}
    monkeypatch.setattr(session, "_on_servers", urls)
    monkeypatch.setattr(session, "_require_connect", lambda what: None)
    monkeypatch.setattr(server_client, "has_ended", lambda url: url == "sc://dead")
    monkeypatch.setattr(server_client, "attach", lambda config: SimpleNamespace(url="sc://new"))
    assert session._with_server(SessionConfig(shared="/w")).remote == "sc://new"
    assert [one.is_stopped for one in (ended, broken, other, living)] == [True, True, False, False]
