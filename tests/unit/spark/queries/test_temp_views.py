"""Which temporary views of statements are dropped, and when."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.queries import temp_views
from tablestore_engine.spark.queries.temp_views import TempViews


class Session:
    """What a session is for them: its temporary views, which frames make. It is its own catalog, and each frame."""

    def __init__(self):
        self.views = []
        self.catalog = self

    def createOrReplaceTempView(self, name):
        self.views.append(name.strip("`"))

    def dropTempView(self, name):
        self.views.remove(name)

    def named(self, start):
        return [one for one in self.views if one.startswith(start)]


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setattr(temp_views, "KEPT", 3)
    return Session()


def statements(session, name, count):
    for _ in range(count):
        TempViews(session).add(name, session)


def test_the_newest_views_are_kept(session):
    statements(session, "old", 5)
    statements(session, "new", 3)
    assert len(session.views) == len(session.named("new")) == 3


def test_an_unfinished_statement_keeps_its_own_views_only(session):
    unfinished = TempViews(session)
    held = [unfinished.add(name, session) for name in ("a", "b")]
    statements(session, "other", 9)
    assert session.views[:2] == held
    assert len(session.named("other")) == 3
    del unfinished
    statements(session, "last", 1)
    assert len(session.views) == 3


def test_lasting_views_stay(session):
    TempViews(session, lasting=True).add("lasting", session)
    statements(session, "other", 9)
    assert len(session.named("lasting")) == 1


class ConnectSession(Session):
    """One whose frames are analysed when they are read."""

    __module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize(("kind", "left"), [(Session, 0), (ConnectSession, 1)])
def test_a_kept_view_is_dropped_when_no_frame_can_be_read_any_more(kind, left, monkeypatch):
    monkeypatch.setattr(temp_views, "KEPT_OVER_CONNECT", 3)
    session = kind()
    kept = TempViews(session).add("kept", session, kept=True)
    statements(session, "other", 9)
    assert session.named("kept") == [kept]
    TempViews(session).release(kept)
    assert len(session.named("kept")) == left
    statements(session, "last", 3)
    assert session.named("kept") == []
