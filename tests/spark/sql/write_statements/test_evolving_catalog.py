"""Changes of a schema that are committed by the write of the rows: judged by ALTER TABLE and the same write."""

from __future__ import annotations

import os
import shutil

import pytest
from support.invariants import check_invariants
from support.spark_rows import rows

from tablestore_engine.operation.write_job.write_intent import Evolution, WriteIntent
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    DropColumn,
    RemoveOption,
    RenameColumn,
    RetypeColumn,
    SetComment,
    SetOption,
)
from tablestore_engine.schema.types.types import AtomicType
from tablestore_engine.spark.session.session import new_session
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark

TABLES = {
    "append": ")",
    "vectors": ") TBLPROPERTIES ('deletion-vectors.enabled' = 'true')",
    "partitioned": ") PARTITIONED BY (p)",
    "keyed": ", PRIMARY KEY (id))",
    "orc": ", PRIMARY KEY (id)) TBLPROPERTIES ('file.format' = 'orc')",
    "across": ", PRIMARY KEY (id)) PARTITIONED BY (p)",
    "partial": ", PRIMARY KEY (id)) TBLPROPERTIES ('merge-engine' = 'partial-update')",
    "aggregation": ", PRIMARY KEY (id)) TBLPROPERTIES ('merge-engine' = 'aggregation',"
    " 'fields.v.aggregate-function' = 'sum')",
}
CHANGES = (
    RemoveOption("constraint.check.positive"),
    RenameColumn("old", "new"),
    RetypeColumn("v", AtomicType("BIGINT")),
    DropColumn("lost"),
    AddColumn("added", AtomicType("DATE")),
    SetOption("snapshot.num-retained.max", "50"),
    SetComment("all of it"),
)
SOURCE = "SELECT * FROM VALUES (2, 6000000000L, 'b2', 'x', DATE'2026-01-01'), (3, -7L, 'c', 'x', NULL)"
NAMED = f"SELECT * FROM ({SOURCE}) AS t(id, v, new, p, added)"
MERGE = (
    f"MERGE INTO {{t}} t USING ({NAMED}) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v, new = s.new"
    " WHEN NOT MATCHED THEN INSERT *"
)
WRITES = {
    "insert": f"INSERT INTO {{t}} (id, v, new, p, added) {NAMED}",
    "overwrite": f"INSERT OVERWRITE {{t}} (id, v, new, p, added) {NAMED}",
    "merge": MERGE,
    "own rows": "INSERT INTO {t} (id, v, new, p) SELECT id + 10, v, upper(new), p FROM {t} WHERE new > 'a'",
    "no rows": "INSERT INTO {t} (id, new, p) SELECT id, new, p FROM {t} WHERE false",
}


@pytest.fixture(scope="module")
def made_once(spark, tmp_path_factory):
    """A store with one table of each kind, called as its kind."""
    store = TableStore(tmp_path_factory.mktemp("made"), new_session(spark))
    for kind, tail in TABLES.items():
        store.execute(f"CREATE TABLE {kind} (id INT NOT NULL, v INT, lost INT, old STRING, p STRING{tail}")
        store.execute(f"ALTER TABLE {kind} ADD CONSTRAINT positive CHECK (v > 0)")
        store.execute(f"INSERT INTO {kind} VALUES (1, 10, 1, 'a', 'x'), (2, 20, 2, 'b', 'x')")
    return store


@pytest.fixture
def made(made_once, store):
    """Copies a table of a kind into the store, under a name."""

    def copied(name, kind):
        shutil.copytree(made_once.table(kind).path, os.path.join(store.catalog.warehouse, "default.db", name))

    return copied


def evolution(name):
    return WriteIntent(evolution=Evolution(("default", name), CHANGES))


@pytest.mark.cover
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("write", WRITES)
def test_schema_and_rows_are_one_commit(store, made, kind, write):
    refused = {"merge": ("partial", "aggregation"), "overwrite": ("across",)}
    if kind in refused.get(write, ()):
        pytest.skip("refused for this table")
    for name in ("a", "b"):
        made(name, kind)
    store.catalog.alter_table("default", "b", CHANGES)
    store.execute(WRITES[write].format(t="b"))
    before, commits = store.table("a").schema, store.table("a").latest_snapshot().id
    with pytest.raises(Exception, match="stop"):
        store.execute(f"INSERT INTO a (id, new) SELECT 1, raise_error('stop') FROM ({NAMED})", intent=evolution("a"))
    if kind != "across":
        assert store.table("a").schema == before
        store.execute(WRITES[write].format(t="a"), intent=evolution("a"))
        first = next(one for one in store.table("a").snapshots() if one.id == commits + 1)
        assert first.schema_id == store.table("a").schema.id
    else:  # such a write changes the schema first
        store.execute(WRITES[write].format(t="a"))
    first, second = store.table("a"), store.table("b")
    assert [(f.id, f.name, f.type) for f in first.schema.fields] == [
        (f.id, f.name, f.type) for f in second.schema.fields
    ]
    assert (first.schema.options, first.schema.comment) == (second.schema.options, second.schema.comment)
    assert sorted(rows(store, "SELECT * FROM a"), key=str) == sorted(rows(store, "SELECT * FROM b"), key=str)
    assert len(rows(store, "SELECT * FROM a")) >= 2
    check_invariants(first)
    assert rows(store, "SELECT count(lost) FROM a VERSION AS OF 1") == rows(
        store, "SELECT count(lost) FROM b VERSION AS OF 1"
    )


def test_a_query_of_the_model_sees_the_next_columns_and_others_do_not(store, made):
    made("a", "keyed")
    frame = store.execute("SELECT * FROM a", intent=evolution("a")).dataframe
    assert frame.columns == ["id", "v", "new", "p", "added"]
    assert rows(store, "SELECT old FROM a WHERE id = 1") == [("a",)]
    made("b", "keyed")
    store.execute("INSERT INTO b VALUES (5, 5, 5, 'e', 'x')", intent=evolution("a"))
    assert store.table("b").schema.has_field("old")


def test_an_alter_meanwhile_is_not_lost(store, made, monkeypatch):
    """The statement runs again on the schema that it finds."""
    from tablestore_engine.sql.write_statements import evolving_catalog

    made("a", "append")
    original, altered = evolving_catalog.evolving, []

    def evolving(*given):
        found = original(*given)
        if not altered:
            altered.append(store.execute("ALTER TABLE a ADD COLUMN meanwhile INT"))
        return found

    monkeypatch.setattr(evolving_catalog, "evolving", evolving)
    store.execute(WRITES["insert"].format(t="a"), intent=evolution("a"))
    assert store.table("a").schema.field_names == ("id", "v", "new", "p", "meanwhile", "added")
    assert rows(store, "SELECT count(*), sum(v) FROM a") == [(4, 6000000023)]
