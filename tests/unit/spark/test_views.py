"""Views are read only, and one that cannot be read any more says which and why, once."""

from __future__ import annotations

import pytest

from tablestore_engine.catalog import View
from tablestore_engine.errors import BrokenViewError, ReadOnlyError, SqlError
from tablestore_engine.store import TableStore

WRITES = [
    "INSERT INTO seen VALUES (2, 'b')",
    "INSERT INTO default.seen (id) SELECT 2",
    "INSERT OVERWRITE seen SELECT 2, 'b'",
    "UPDATE seen SET v = 'x'",
    "UPDATE seen SET v = 'x' WHERE id = 1",
    "DELETE FROM seen",
    "DELETE FROM seen WHERE id = 1",
    "MERGE INTO seen USING (SELECT 1 AS id) s ON seen.id = s.id WHEN MATCHED THEN DELETE",
    "MERGE INTO seen USING (SELECT 9 AS id, 'n' AS v) s ON seen.id = s.id WHEN NOT MATCHED THEN INSERT *",
    "TRUNCATE TABLE seen",
]
READ_ONLY = "'default.seen' is a view, which cannot be written to. Write to the table it reads."


@pytest.fixture
def views(store):
    """`outer_one` reads `seen`, which reads the table `t` of one row."""
    store.sql("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO t VALUES (1, 'a')")
    store.sql("CREATE VIEW seen AS SELECT id, v FROM t")
    store.sql("CREATE VIEW outer_one AS SELECT * FROM seen")
    return store


def rows(store, name):
    return [tuple(row) for row in store.sql(f"SELECT * FROM {name}").collect()]


def broken(store, name):
    with pytest.raises(BrokenViewError) as caught:
        rows(store, name)
    return str(caught.value)


@pytest.mark.spark
@pytest.mark.parametrize("text", WRITES)
def test_a_view_cannot_be_written_to(views, text):
    before = views.table("t").latest_snapshot()
    with pytest.raises(ReadOnlyError) as caught:
        views.sql(text)
    assert str(caught.value) == READ_ONLY
    assert views.table("t").latest_snapshot() == before
    assert rows(views, "outer_one") == [(1, "a")]


@pytest.mark.parametrize("text", WRITES)
def test_to_say_so_needs_no_spark(tmp_path, text):
    def refuse():
        raise AssertionError("Spark was started")

    store = TableStore(tmp_path, session_factory=refuse)
    store.catalog.create_view("default", "seen", View("SELECT 1 AS id, 'a' AS v", "default"))
    with pytest.raises(ReadOnlyError) as caught:
        store.execute(text)
    assert str(caught.value) == READ_ONLY


@pytest.mark.spark
def test_a_view_whose_table_was_dropped(views):
    views.sql("DROP TABLE t")
    for name in ("seen", "outer_one"):
        said = broken(views, name)
        assert said.startswith("View 'default.seen' cannot be read any more: ")
        assert "'default.t' does not exist" in said
        assert said.endswith("Create it again on what exists now.")
        assert said.count("cannot be read") == said.count("Create it again") == 1
    views.sql("CREATE TABLE t AS SELECT 5 AS id, 'new' AS v")
    assert rows(views, "outer_one") == [(5, "new")]


@pytest.mark.spark
def test_a_view_whose_column_is_gone(views):
    views.sql("CREATE OR REPLACE TABLE t AS SELECT 1 AS id")
    said = broken(views, "outer_one")
    assert said.startswith("View 'default.seen' cannot be read any more: ")
    assert "`v`" in said
    assert "JVM" not in said
    assert "org.apache" not in said


@pytest.mark.spark
@pytest.mark.parametrize(
    "text",
    [
        "CREATE OR REPLACE VIEW seen AS SELECT * FROM seen",
        "CREATE OR REPLACE VIEW seen AS SELECT * FROM Outer_One",
        "CREATE OR REPLACE VIEW seen AS SELECT * FROM t WHERE id IN (SELECT id FROM default.SEEN)",
        "ALTER VIEW seen AS SELECT * FROM outer_one",
    ],
)
def test_a_view_is_not_made_to_read_itself(views, text):
    with pytest.raises(SqlError) as caught:
        views.sql(text)
    assert str(caught.value).startswith("View 'default.seen' would read itself.")
    assert rows(views, "seen") == [(1, "a")]


@pytest.mark.spark
def test_views_that_came_to_read_themselves_by_a_new_name(views):
    views.sql("DROP TABLE t")
    views.sql("ALTER VIEW outer_one RENAME TO t")
    assert broken(views, "seen").startswith(
        "View 'default.seen' reads itself: default.seen → default.t → default.seen."
    )
    assert "default.t → default.seen → default.t." in broken(views, "T")


@pytest.mark.spark
def test_a_view_that_reads_only_itself(store):
    store.catalog.create_view("default", "alone", View("SELECT * FROM Alone", "default"))
    store.catalog.create_view("default", "above", View("SELECT * FROM alone", "default"))
    for name in ("alone", "ALONE", "above"):
        said = broken(store, name)
        assert said.startswith("View 'default.alone' reads itself: default.alone → default.alone.")
        assert "cannot be read any more" not in said


@pytest.mark.parametrize("version", ["VERSION AS OF 1", "VERSION AS OF 99", "TIMESTAMP AS OF '2020-01-01'"])
def test_a_view_has_no_versions(store, version):
    store.execute("CREATE TABLE base (id INT)")
    store.execute("INSERT INTO base VALUES (1)")
    store.execute("CREATE VIEW over AS SELECT * FROM base")
    with pytest.raises(SqlError, match="is a view, which has no versions"):
        store.sql(f"SELECT * FROM over {version}")
