"""Arguments of procedures: what each kind accepts, and what it says of anything else."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import SqlError
from tablestore_engine.sql.procedures.procedure import count, duration, flag, millis, named_table, pattern, text
from tablestore_engine.sql.statements.statement import TableName


@pytest.mark.parametrize(("given", "expected"), [({}, 7), ({"n": 1}, 1), ({"n": 10**6}, 10**6)])
def test_counts(given, expected):
    assert count("n", given, 7) == expected


@pytest.mark.parametrize("value", [0, -1, True, "3", 2.0])
def test_wrong_counts_are_refused(value):
    with pytest.raises(SqlError, match="n is a number from 1 on, not "):
        count("n", {"n": value}, 7)


@pytest.mark.parametrize(("given", "expected"), [({}, False), ({"f": False}, False), ({"f": True}, True)])
def test_flags(given, expected):
    assert flag("f", given) is expected


@pytest.mark.parametrize("value", [1, 0, "true", ""])
def test_wrong_flags_are_refused(value):
    with pytest.raises(SqlError, match=r"f is true or false, not .* Write f => true"):
        flag("f", {"f": value})


@pytest.mark.parametrize(
    ("given", "expected"), [({}, None), ({"t": " "}, None), ({"t": ""}, None), ({"t": " a b "}, "a b"), ({"t": 3}, "3")]
)
def test_texts(given, expected):
    assert text("t", given) == expected


def test_patterns():
    assert pattern("p", {}, ".*").fullmatch("anything")
    assert pattern("p", {"p": "a|b"}, ".*").fullmatch("b")
    with pytest.raises(SqlError, match=r"p is not a regular expression: '\(a' .* Write names as 'a\|b'"):
        pattern("p", {"p": "(a"}, ".*")


def test_durations():
    assert [duration("d", given) for given in ({}, {"d": "1 d"}, {"d": "90 s"})] == [None, 86_400_000, 90_000]
    with pytest.raises(SqlError, match="d cannot be 'soon'"):
        duration("d", {"d": "soon"})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (0, 0),
        (1_700_000_000_123, 1_700_000_000_123),
        ("2023-11-14 22:13:20+00:00", 1_700_000_000_000),
        ("2023-11-15T00:13:20.500+02:00", 1_700_000_000_500),
        (datetime.fromisoformat("2023-11-14 22:13:20+00:00"), 1_700_000_000_000),
    ],
)
def test_times(value, expected):
    assert millis("at", {} if value is None else {"at": value}) == expected


def test_a_time_without_a_zone_is_one_of_this_machine(monkeypatch):
    found = []
    for zone in ("UTC", "Etc/GMT-2"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found.append(millis("at", {"at": "2023-11-14 22:13:20"}))
    monkeypatch.undo()
    time.tzset()
    assert found == [1_700_000_000_000, 1_700_000_000_000 - 2 * 3_600_000]


@pytest.mark.parametrize("value", ["yesterday", True, "2023-13-01", ""])
def test_wrong_times_are_refused(value):
    with pytest.raises(SqlError, match=r"at is a time, not .*as milliseconds since 1970"):
        millis("at", {"at": value})


class Context:
    """Says which names are asked for."""

    catalog: Catalog

    def table(self, name):
        return name


@pytest.mark.parametrize(
    ("given", "database", "name"),
    [
        ("t", None, "t"),
        ("db.t", "db", "t"),
        ("tablestore.db.t", "db", "t"),
        ("spark_catalog.db.t", "db", "t"),
        ("tablestore.t", "tablestore", "t"),
        ("my-db.my table", "my-db", "my table"),
        ("`a.b`.`c d`", "a.b", "c d"),
        ("db.`t`", "db", "t"),
        (12, None, "12"),
    ],
)
def test_names_of_tables(given, database, name):
    assert named_table({"table": given}, Context()) == [TableName(database, name)]


@pytest.mark.parametrize("given", ["`t` x", "`t"])
def test_wrong_names_are_refused(given):
    with pytest.raises(SqlError):
        named_table({"table": given}, Context())
