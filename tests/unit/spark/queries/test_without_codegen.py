"""A small statement is run without generated code, and leaves the session's settings as they were."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.queries.without_codegen import uncompiled

KEY = "spark.sql.codegen.wholeStage"


class Session:
    """A session with its settings, as a conf has them."""

    def __init__(self, **settings):
        self.settings = settings
        self.conf = self

    def get(self, key, default):
        return self.settings.get(key, default)

    def set(self, key, value):
        self.settings[key] = value

    def unset(self, key):
        del self.settings[key]


def test_while_it_runs_nothing_is_compiled():
    session = Session()
    with uncompiled(session, small=True):
        assert session.settings == {KEY: "false"}
    assert session.settings == {}


def test_larger_statements_are_compiled():
    session = Session()
    with uncompiled(session, small=False):
        assert session.settings == {}


@pytest.mark.parametrize("value", ["true", "false"])
def test_a_setting_of_the_user_stays(value):
    session = Session(**{KEY: value})
    with uncompiled(session, small=True), uncompiled(session, small=True):
        assert session.settings == {KEY: value}
    assert session.settings == {KEY: value}


def test_the_last_of_several_statements_puts_the_setting_back():
    session = Session()
    first, second = uncompiled(session, small=True), uncompiled(session, small=True)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert session.settings == {KEY: "false"}
    second.__exit__(None, None, None)
    assert session.settings == {}


def test_larger_statements_are_compiled_while_small_ones_run():
    session = Session()
    with uncompiled(session, small=True):
        with uncompiled(session, small=False):
            assert session.settings == {}
            with uncompiled(session, small=True):
                assert session.settings == {}
        assert session.settings == {}, "it may still run"
        with uncompiled(session, small=True):
            assert session.settings == {KEY: "false"}
    assert session.settings == {}


def test_a_session_of_spark_connect_is_not_asked():
    kind = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    with uncompiled(kind(), small=True):
        pass


def test_after_a_failure_the_setting_is_as_it_was():
    session = Session()
    with pytest.raises(ValueError, match="no"), uncompiled(session, small=True):
        raise ValueError("no")
    assert session.settings == {}
