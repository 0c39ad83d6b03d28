"""Views that a statement leaves without what they read."""

from __future__ import annotations

import pytest
from support.logged import logged

from tablestore_engine.catalog import View
from tablestore_engine.store import TableStore


@pytest.fixture
def store(tmp_path):
    store = TableStore(tmp_path)
    store.execute("CREATE SCHEMA s")
    store.execute("CREATE TABLE s.t (id INT)")
    catalog = store.catalog
    catalog.create_view("default", "of_schema", View("SELECT * FROM s.t JOIN u", "default"))
    catalog.create_view("s", "of_bare", View("WITH t2 AS (SELECT * FROM t) SELECT * FROM t2", "s"))
    catalog.create_view("default", "of_another", View("SELECT * FROM t", "default"))
    catalog.create_view("default", "of_view", View("SELECT * FROM of_schema", "default"))
    return store


def test_drop_names_them(store, caplog):
    store.execute("DROP TABLE IF EXISTS s.nothing")
    assert logged(caplog) == []
    store.execute("DROP TABLE s.t")
    views = "default.of_schema, default.of_view, s.of_bare"
    assert logged(caplog) == [f"Table s.t is dropped; these views read it: {views}."]
    caplog.clear()
    store.execute("DROP VIEW of_schema")
    assert logged(caplog) == ["View default.of_schema is dropped; these views read it: default.of_view."]


def test_rename_names_them(store, caplog):
    store.execute("ALTER TABLE s.t RENAME TO s.u")
    views = "default.of_schema, default.of_view, s.of_bare"
    assert logged(caplog) == [f"Table s.t is called s.u now; these views read the former name: {views}."]
    caplog.clear()
    store.execute("ALTER VIEW of_schema RENAME TO of_table")
    assert logged(caplog) == [
        "View default.of_schema is called default.of_table now; these views read the former name: default.of_view."
    ]
    caplog.clear()
    store.execute("ALTER VIEW of_view RENAME TO of_nothing")
    assert logged(caplog) == []


def test_drop_schema_names_those_of_other_schemas(store, caplog):
    store.execute("DROP SCHEMA IF EXISTS nowhere CASCADE")
    assert logged(caplog) == []
    store.execute("DROP SCHEMA s CASCADE")
    views = "default.of_schema, default.of_view"
    assert logged(caplog) == [f"Schema s is dropped; these views read what was in it: {views}."]
