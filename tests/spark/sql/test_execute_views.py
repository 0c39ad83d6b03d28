"""Views are read-only. The message for a view that cannot be read names the view and the reason, once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.spark_rows import rows

from tablestore_engine.catalog import View
from tablestore_engine.errors import BrokenViewError, ReadOnlyError, SchemaError, SqlError, TableNotFound


@pytest.fixture
def views(store):
    """`outer_one` reads `seen`, which reads the table `t` of one row."""
    store.sql("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)")
    store.sql("INSERT INTO t VALUES (1, 'a')")
    store.sql("CREATE VIEW seen AS SELECT id, v FROM t")
    store.sql("CREATE VIEW outer_one AS SELECT * FROM seen")
    return store


def broken(store, name):
    with pytest.raises(BrokenViewError) as caught:
        rows(store, f"SELECT * FROM {name}")
    return str(caught.value)


@pytest.mark.spark
@pytest.mark.parametrize("text", ["UPDATE seen SET v = 'x'", "INSERT INTO seen VALUES (2, 'b')"])
def test_a_view_cannot_be_written_to(views, text):
    """tests/unit/sql/test_execute.py has all statements."""
    before = views.table("t").latest_snapshot()
    with pytest.raises(ReadOnlyError, match=r"'default\.seen' is a view, which cannot be written to"):
        views.sql(text)
    assert views.table("t").latest_snapshot() == before
    assert rows(views, "SELECT * FROM outer_one") == [(1, "a")]


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
    assert rows(views, "SELECT * FROM outer_one") == [(5, "new")]


@pytest.mark.spark
def test_a_view_whose_column_was_dropped(views):
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
    assert rows(views, "SELECT * FROM seen") == [(1, "a")]


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


def asked(store, name):
    """Columns and rows of a view."""
    frame = store.sql(f"SELECT * FROM {name}")
    return frame.columns, [tuple(row) for row in frame.collect()]


@pytest.mark.spark
def test_columns_of_a_table_may_change_their_order(store):
    store.sql("CREATE TABLE people AS SELECT 1 AS id, 'Ada' AS first_name, 'Lovelace' AS last_name")
    store.sql("CREATE VIEW everything AS SELECT * FROM people")
    store.sql("CREATE VIEW renamed (n, a, z) AS SELECT * FROM people")
    store.sql("CREATE VIEW swapped (first_name, last_name) AS SELECT last_name, first_name FROM people")
    store.sql("CREATE VIEW twice (a, b, c) AS SELECT p.last_name, p.first_name, o.last_name FROM people p, people o")
    store.sql("CREATE VIEW counted AS SELECT *, count(*) OVER () FROM people")
    store.sql("CREATE VIEW above AS SELECT * FROM everything")
    before = {name: asked(store, name) for name in ("everything", "renamed", "swapped", "twice", "counted", "above")}
    assert before["everything"] == (["id", "first_name", "last_name"], [(1, "Ada", "Lovelace")])
    assert before["renamed"] == (["n", "a", "z"], [(1, "Ada", "Lovelace")])
    assert before["swapped"] == (["first_name", "last_name"], [("Lovelace", "Ada")])
    assert before["twice"] == (["a", "b", "c"], [("Lovelace", "Ada", "Lovelace")])
    assert before["counted"][1] == [(1, "Ada", "Lovelace", 1)]

    store.sql(
        "CREATE OR REPLACE TABLE people AS SELECT 5 AS born, 'Lovelace' AS last_name, 1 AS id, 'Ada' AS First_Name"
    )
    assert {name: asked(store, name) for name in before} == before
    ada = "SELECT * FROM everything WHERE first_name = 'Ada' AND last_name = 'Lovelace'"
    assert rows(store, ada) == before["everything"][1]

    store.sql("CREATE OR REPLACE TABLE people AS SELECT 1 AS id, 'Lovelace' AS last_name, 'Ada' AS given_name")
    said = broken(store, "above")
    assert said.startswith(
        "View 'default.everything' cannot be read any more: its query has no column 'first_name' now."
    )
    assert "It has: id, last_name, given_name." in said


@pytest.mark.spark
def test_a_view_of_an_earlier_version_is_read_as_before(store):
    store.sql("CREATE TABLE t AS SELECT 1 AS a, 2 AS b")
    store.sql("CREATE VIEW v (x, y) AS SELECT * FROM t")
    store.catalog.create_view("default", "v", replace(store.catalog.load_view("default", "v"), query_columns=()), True)
    assert asked(store, "v") == (["x", "y"], [(1, 2)])


@pytest.mark.spark
def test_another_query_leaves_the_rest_of_a_view(store):
    store.execute("CREATE VIEW v COMMENT 'said' TBLPROPERTIES ('a' = 'b') AS SELECT 1 AS x")
    store.execute("ALTER VIEW v AS SELECT 2 AS y")
    view = store.catalog.load_view("default", "v")
    assert (view.comment, dict(view.options), [c.name for c in view.columns]) == ("said", {"a": "b"}, ["y"])
    store.execute("CREATE OR REPLACE VIEW v AS SELECT 3 AS z")
    view = store.catalog.load_view("default", "v")
    assert (view.comment, dict(view.options)) == (None, {})


@pytest.mark.spark
@pytest.mark.parametrize("head", ["CREATE VIEW v", "CREATE VIEW v (A, b, a)"])
def test_columns_of_a_view_have_names_of_their_own(views, head):
    with pytest.raises(SchemaError, match=r"[Tt]wo columns (?:are )?named '(?i:id|a)'"):
        views.execute(f"{head} AS SELECT t.id, seen.v, seen.id FROM t JOIN seen ON t.id = seen.id")
    assert "v" not in views.catalog.list_views("default")


@pytest.mark.spark
def test_a_condition_on_a_view_leaves_files_out(store, monkeypatch):
    from tablestore_engine.sql.pinned_queries import table_frames

    store.execute("CREATE TABLE t (id INT, day STRING) PARTITIONED BY (day)")
    store.execute("INSERT INTO t SELECT id, day FROM range(2) CROSS JOIN VALUES ('a'), ('b'), ('c') AS d(day)")
    store.execute("CREATE VIEW renamed (n, d) AS SELECT id, day FROM t")
    store.execute("CREATE VIEW above AS SELECT d AS day, n FROM renamed WHERE d <> 'c'")
    store.execute("CREATE VIEW counted AS SELECT count(*) AS n, 'a' AS day FROM t")
    read, real = [], table_frames.read_plan

    def noting(spark, table, plan, *rest, **how):
        read.append("".join(sorted(b.partition[0] for b in plan.buckets)))
        return real(spark, table, plan, *rest, **how)

    monkeypatch.setattr(table_frames, "read_plan", noting)
    assert rows(store, "SELECT * FROM renamed WHERE d = 'b'") == [(0, "b"), (1, "b")]
    assert rows(store, "SELECT * FROM above WHERE day IN ('a', 'c')") == [("a", 0), ("a", 1)]
    assert rows(store, "SELECT * FROM counted WHERE day = 'a'") == [(6, "a")]
    joined = "SELECT * FROM renamed x LEFT JOIN renamed y ON x.n = y.n AND y.d = 'a' WHERE x.d = 'b'"
    assert len(rows(store, joined)) == 2
    assert read == ["b", "ac", "a"], "what was read before is not planned again"


@pytest.mark.spark
def test_a_global_temporary_view(views):
    views.sql("CREATE GLOBAL TEMPORARY VIEW everyones AS SELECT * FROM t")
    views.sql("CREATE OR REPLACE GLOBAL TEMP VIEW everyones AS SELECT * FROM t")
    assert rows(views, "SELECT * FROM global_temp.everyones") == [(1, "a")]
    for text in ("UPDATE global_temp.everyones SET v = 'x'", "INSERT INTO global_temp.everyones VALUES (2, 'b')"):
        with pytest.raises(ReadOnlyError, match="is a temporary view, which cannot be written to"):
            views.sql(text)
    views.sql("DROP VIEW global_temp.everyones")
    with pytest.raises(TableNotFound):
        views.sql("DROP VIEW global_temp.everyones")


@pytest.mark.spark
def test_a_global_temporary_view_leaves_a_temporary_view_of_its_name_alone(views):
    """UPDATE of the session's own view wrote to the table of the global one."""
    views.sql("CREATE TABLE other AS SELECT * FROM t")
    views.sql("CREATE TEMPORARY VIEW mine AS SELECT * FROM t")
    views.sql("CREATE GLOBAL TEMPORARY VIEW mine AS SELECT * FROM other")
    views.sql("UPDATE mine SET v = 'x'")
    assert rows(views, "SELECT * FROM t") == [(1, "x")]
    assert rows(views, "SELECT * FROM other") == [(1, "a")]
    views.sql("DROP VIEW mine")
    views.sql("DROP VIEW global_temp.mine")


@pytest.mark.spark
def test_a_view_follows_its_tables_by_its_mode(store):
    """Spark's modes: EVOLUTION takes the columns and types of now, TYPE EVOLUTION the types, COMPENSATION neither."""
    store.sql("CREATE TABLE t (id INT, v INT)")
    store.sql("INSERT INTO t VALUES (1, 2)")
    for name, mode in (("evolving", "EVOLUTION"), ("types", "TYPE EVOLUTION"), ("kept", "COMPENSATION")):
        store.sql(f"CREATE VIEW {name} WITH SCHEMA {mode} AS SELECT * FROM t")
    store.sql("CREATE VIEW named (a, b) WITH SCHEMA EVOLUTION AS SELECT * FROM t")
    store.sql("ALTER TABLE t ADD COLUMN added INT, ALTER COLUMN v TYPE BIGINT")
    found = {name: store.sql(f"SELECT * FROM {name}").dtypes for name in ("evolving", "types", "kept", "named")}
    assert found == {
        "evolving": [("id", "int"), ("v", "bigint"), ("added", "int")],
        "types": [("id", "int"), ("v", "bigint")],
        "kept": [("id", "int"), ("v", "int")],
        "named": [("a", "int"), ("b", "bigint")],
    }
    assert rows(store, "SELECT v FROM kept WHERE v = 2") == [(2,)]
    store.sql("ALTER TABLE t DROP COLUMN v")
    assert rows(store, "SELECT * FROM evolving WHERE added IS NULL") == [(1, None)]
    assert "no column 'v' now" in broken(store, "kept")


@pytest.mark.spark
def test_a_view_changes_its_mode(store):
    store.sql("CREATE TABLE t (id INT)")
    store.sql("CREATE VIEW w AS SELECT * FROM t")
    store.sql("ALTER VIEW w WITH SCHEMA EVOLUTION")
    ((text,),) = rows(store, "SHOW CREATE TABLE w")
    assert "WITH SCHEMA EVOLUTION\nAS SELECT * FROM t" in text
    store.sql("ALTER VIEW w AS SELECT *, 1 AS one FROM t")
    store.sql("ALTER TABLE t ADD COLUMN added INT")
    assert store.sql("SELECT * FROM w").columns == ["id", "added", "one"]
    assert ("View Schema Mode", "EVOLUTION", "") in rows(store, "DESCRIBE EXTENDED w")


def test_a_temporary_view_shows_the_rows_of_now(store):
    """As in Spark, also over another view; one whose column is removed says so, once for both."""
    store.execute("CREATE TABLE t (id INT, v STRING, s STRUCT<a: INT, b: INT>)")
    store.execute("INSERT INTO t VALUES (1, 'a', struct(1, 2))")
    store.execute("CREATE VIEW kept AS SELECT id FROM t")
    for name, query in {
        "whole": "SELECT * FROM t",
        "part": "SELECT id, s FROM whole",
        "over": "SELECT * FROM kept",
        "of_v": "SELECT v FROM t",
        "grouped": "SELECT count(*) AS n FROM of_v",
        "both": "SELECT whole.id, (SELECT count(*) FROM t) AS n FROM whole",
    }.items():
        store.execute(f"CREATE TEMPORARY VIEW {name} AS {query}")
    store.execute("INSERT INTO t VALUES (2, 'b', struct(3, 4))")
    assert rows(store, "SELECT id, s.b FROM part") == [(1, 2), (2, 4)]
    assert rows(store, "SELECT * FROM over") == [(1,), (2,)]
    assert rows(store, "SELECT n FROM grouped") == [(2,)]
    assert rows(store, "SELECT * FROM both") == [(1, 2), (2, 2)]
    store.execute("ALTER TABLE t DROP COLUMN s.b")
    assert rows(store, "SELECT s FROM part") == [((1,),), ((3,),)]
    store.execute("ALTER TABLE t RENAME COLUMN v TO w")
    for broken in ("SELECT * FROM of_v", "SELECT * FROM grouped"):
        with pytest.raises(BrokenViewError, match=r"View 'of_v' cannot be read any more: .*`v` cannot be resolved"):
            store.execute(broken)
    store.execute("CREATE OR REPLACE TABLE t (id INT, z INT)")
    store.execute("INSERT INTO t VALUES (5, 6)")
    assert rows(store, "SELECT * FROM both") == [(5, 1)]
    store.execute("DROP TABLE t")
    store.execute("CREATE TABLE t (id INT, y INT)")
    store.execute("INSERT INTO t VALUES (5, 7)")
    assert rows(store, "SELECT * FROM whole") == [(5, 7)]
    store.spark.range(1).createOrReplaceTempView("whole")
    store.execute("INSERT INTO t VALUES (7, 8)")
    assert rows(store, "SELECT * FROM whole") == [(0,)], "a frame's, which took the name"


def test_a_view_that_keeps_types_names_those_that_no_cast_leads_to(store):
    store.execute("CREATE TABLE t (id INT, s STRUCT<a: INT, b: INT>)")
    store.execute("CREATE VIEW v WITH SCHEMA COMPENSATION AS SELECT * FROM t")
    store.execute("ALTER TABLE t DROP COLUMN s.b")
    with pytest.raises(
        BrokenViewError, match=r"View 'default.v' .*: 's' is struct<`a`: int> and was struct<`a`: int, `b"
    ):
        store.execute("SELECT * FROM v")
