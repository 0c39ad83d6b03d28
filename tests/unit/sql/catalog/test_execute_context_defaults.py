"""SET and RESET table-storage.…: defaults of a session for new tables."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import OptionError
from tablestore_engine.store import TableStore


@pytest.fixture
def store(tmp_path):
    return TableStore(tmp_path, options={"table-storage.bucket": "3"})


def options(store, name, clauses="(id INT PRIMARY KEY)"):
    store.execute(f"CREATE TABLE {name} {clauses}")
    return dict(store.table(name).schema.options)


def test_new_tables_get_the_defaults_of_the_session(store, monkeypatch):
    monkeypatch.setattr("tablestore_engine.catalog.log_topics.create_topic", lambda log: None)
    assert options(store, "a") == {"bucket": "3"}
    store.execute("SET table-storage.bucket = 10;")
    store.execute("set `table-storage.log.kafka.bootstrap.servers` = localhost:9092")
    store.execute("SET table-storage.log.system = 'kafka'")
    given = {"bucket": "10", "log.kafka.bootstrap.servers": "localhost:9092", "log.system": "kafka"}
    assert options(store, "b") == {**given, "log.kafka.topic": "default.b"}
    expected = {**given, "bucket": "1", "log.kafka.topic": "default.c"}
    assert options(store, "c", "(id INT PRIMARY KEY) WITH ('bucket' = '1')") == expected
    assert "bucket" not in options(store, "d", "(id INT)"), "no columns to hash"
    made = store.create_table("e", {"id": "int"}, primary_key="id", options={"bucket": 2})
    assert made.schema.options == {**given, "bucket": "2", "log.kafka.topic": "default.e"}
    shown = store.execute("SET table-storage")
    assert (shown.columns, shown.rows) == (
        ("key", "value"),
        [(f"table-storage.{key}", value) for key, value in sorted(given.items())],
    )
    store.execute("RESET table-storage.bucket")
    assert store.execute("SET table-storage.bucket").rows == [("table-storage.bucket", "3")]
    store.execute("RESET table-storage")
    assert options(store, "f") == {"bucket": "3"}
    assert store.execute("SET table-storage.log.system").rows == [("table-storage.log.system", "<undefined>")]


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("bucket = many", "whole number"),
        ("bukcet = 3", "Did you mean 'bucket'"),
        ("nonsense = 3", "Unknown table option 'nonsense'"),
        ("file.path = /tmp", "another warehouse"),
        ("ctas.atomicity = sometimes", "atomic, rollback, none"),
    ],
)
def test_a_wrong_default_is_refused_at_once(store, setting, message):
    with pytest.raises(OptionError, match=message):
        store.execute(f"SET table-storage.{setting}")
    assert options(store, "a") == {"bucket": "3"}


def test_describe_extended_has_all_rows_of_the_proposal(store):
    store.execute("SET table-storage.log.retention = 1 d")
    store.execute("CREATE TABLE t (id INT, dt STRING, PRIMARY KEY (id, dt)) PARTITIONED BY (dt)")
    rows = {label: value for label, value, _ in store.execute("DESCRIBE TABLE EXTENDED t").rows}
    wanted = {"name": "tablestore.default.t", "file.format": "parquet", "change-tracking": "true", "log.system": "none",
              "log.retention": "1 d", "log.kafka.bootstrap.servers": "none", "log.kafka.topic": "none",
              "bucket": "3", "num-files": "0", "file.path": store.table("t").path}  # fmt: skip
    assert {label: rows[label] for label in wanted} == wanted
