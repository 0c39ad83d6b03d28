"""DELETE and UPDATE where no file can hold a row: they are checked all the same, and change nothing."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SqlError

pytestmark = pytest.mark.spark

TABLES = {
    "keyed": "create table t (id int, day string, n int, primary key (id, day) not enforced) partitioned by (day)",
    "keyless": "create table t (id int, day string, n int) partitioned by (day)",
}


@pytest.fixture(params=[(kind, rows) for kind in TABLES for rows in (False, True)], ids=str)
def table(request, store):
    """A table that is empty, or of which the statements below leave out all files."""
    kind, rows = request.param
    store.sql(TABLES[kind])
    if rows:
        store.sql("insert into t values (1, 'a', 1)")
    return store


@pytest.mark.cover
@pytest.mark.parametrize(
    "text",
    [
        "delete from t where day = 'z' and nme = 1",
        "update t set n = nme where day = 'z'",
        "update t set n = 1 where day = 'z' and id = (select nme from t)",
    ],
)
def test_a_wrong_name_is_an_error(table, text):
    with pytest.raises(SqlError, match="`nme` cannot be resolved"):
        table.sql(text)


@pytest.mark.cover
@pytest.mark.parametrize("text", ["delete from t where day = 'z'", "update t set n = n + 1 where day = 'z'"])
def test_nothing_changes(table, text):
    before = [one.id for one in table.table("t").snapshots()]
    assert table.execute(text).rows_affected == 0
    assert [one.id for one in table.table("t").snapshots()] == before
