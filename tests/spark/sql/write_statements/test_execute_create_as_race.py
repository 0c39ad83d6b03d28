"""CREATE TABLE … AS while another process creates a table of the same name."""

from __future__ import annotations

import pytest

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import TableAlreadyExists

pytestmark = pytest.mark.spark


@pytest.fixture
def raced(store, monkeypatch):
    """A store in which another writer's table takes the name `t` at the last moment."""
    publish = Catalog.publish

    def late(self, staged, database, name):
        if not self.table_exists(database, name):
            other = self.stage_table(database, name, staged.schema)
            assert publish(self, other, database, name)
        return publish(self, staged, database, name)

    monkeypatch.setattr(Catalog, "publish", late)
    return store


def test_or_replace_replaces_what_came_meanwhile(raced):
    raced.sql("create or replace table t as select 1 as id")
    assert [row.id for row in raced.sql("select id from t").collect()] == [1]
    assert len(raced.table("t").snapshots()) == 1


def test_without_replace_it_is_an_error_that_says_what_to_use(raced):
    with pytest.raises(TableAlreadyExists, match=r"by another process meanwhile\. Use CREATE OR REPLACE TABLE"):
        raced.sql("create table t as select 1 as id")
    assert raced.sql("select * from t").collect() == []


def test_if_not_exists_takes_what_came_meanwhile(raced):
    raced.sql("create table if not exists t as select 1 as id")
    assert raced.sql("select * from t").collect() == []


def test_the_staged_folder_is_removed(raced):
    raced.sql("create or replace table t as select 1 as id")
    directory = raced.table("t").path.rpartition("/")[0]
    assert [one.name for one in raced.catalog.io.list(directory)] == ["t"]
