"""Topics of tables: one that another table of the warehouse has is refused, and stays."""

from __future__ import annotations

import pytest
from support.tables import make_table, schema_of

from tablestore_engine.catalog import Catalog, log_topics
from tablestore_engine.catalog.log_topics import replaced_log
from tablestore_engine.errors import AlreadyExistsError, LogError
from tablestore_engine.operation.log_store import unpublished_snapshots

LOG = {"log.system": "kafka", "log.kafka.bootstrap.servers": "one:9092, two:9092"}


@pytest.fixture
def topics(monkeypatch):
    """The topics that there are; they are empty."""
    found = set()

    def create(log):
        taken = log.topic in found
        found.add(log.topic)
        return taken

    monkeypatch.setattr(log_topics, "create_topic", create)
    monkeypatch.setattr(log_topics, "delete_topic", lambda log: found.discard(log.topic))
    return found


def with_log(topic=None, **more):
    named = {} if topic is None else {"log.kafka.topic": topic}
    return {**LOG, **named, **more}


def test_a_table_takes_no_topic_of_another_one(tmp_path, topics):
    catalog = Catalog(tmp_path)
    make_table(catalog, {"id": "INT"}, ["id"], options=with_log("shared"), name="first")
    make_table(catalog, {"id": "INT"}, ["id"], options=with_log(), name="t")
    renamed = catalog.rename_table("default", "t", "default", "u")
    for name, options in (("second", with_log("shared")), ("t", with_log())):
        with pytest.raises(AlreadyExistsError, match=r"is the log of table default\.(first|u)\."):
            make_table(catalog, {"id": "INT"}, ["id"], options=options, name=name)
        assert not catalog.table_exists("default", name)
    assert topics == {"shared", "default.t"}, renamed
    # Other brokers have other topics, and a leftover is that of no table.
    other = with_log("shared", **{"log.kafka.bootstrap.servers": "three:9092"})
    make_table(catalog, {"id": "INT"}, ["id"], options=other, name="elsewhere")
    topics.add("left")
    make_table(catalog, {"id": "INT"}, ["id"], options=with_log("left"), name="third")


def test_a_table_that_is_replaced_takes_none_either(tmp_path, topics):
    catalog = Catalog(tmp_path)
    make_table(catalog, {"id": "INT"}, ["id"], options=with_log("shared"), name="first")
    plain = make_table(catalog, {"id": "INT"}, ["id"], name="plain")
    wanted = schema_of({"id": "INT"}, ["id"], options=with_log("shared"))
    with (
        pytest.raises(AlreadyExistsError, match=r"is the log of table default\.first"),
        replaced_log(plain.state, wanted, catalog.tables),
    ):
        raise AssertionError("it is refused before")
    assert topics == {"shared"}


def test_the_topic_of_a_table_that_is_replaced_gets_its_retention(tmp_path, topics, monkeypatch, caplog):
    catalog, given = Catalog(tmp_path), []
    monkeypatch.setattr(log_topics, "set_retention", lambda log: given.append(log.retention_millis))
    table = make_table(catalog, {"id": "INT"}, ["id"], options=with_log("t", **{"log.retention": "2 h"}))
    for retention in ("2 h", "1 h", None):
        more = {"log.retention": retention} if retention else {}
        with replaced_log(table.state, schema_of({"id": "INT"}, ["id"], options=with_log("t", **more)), catalog.tables):
            assert given == ([] if retention else [3_600_000]), "after the table is replaced"
    assert given == [3_600_000, None]

    def fails(_):
        raise LogError("the brokers are down")

    monkeypatch.setattr(log_topics, "set_retention", fails)
    with replaced_log(table.state, schema_of({"id": "INT"}, ["id"], options=with_log("t")), catalog.tables):
        pass
    assert "'t' keeps its retention" in caplog.text and "the brokers are down" in caplog.text


@pytest.mark.parametrize(("snapshot", "stays"), [((0, ""), False), ((1, ""), True), ((7, "12345678"), True)])
def test_a_topic_that_has_changes_of_another_table_stays(tmp_path, topics, monkeypatch, caplog, snapshot, stays):
    monkeypatch.setattr(unpublished_snapshots, "newest_snapshot", lambda log, offsets: snapshot)
    catalog = Catalog(tmp_path)
    make_table(catalog, {"id": "INT"}, ["id"], options=with_log("shared"))
    catalog.drop_table("default", "t")
    assert topics == ({"shared"} if stays else set())
    assert (f"has changes of snapshot {snapshot[0]}, which table default.t does not have" in caplog.text) is stays
    assert not catalog.table_exists("default", "t")
