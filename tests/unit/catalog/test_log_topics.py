"""Topics of tables: one that another table of the warehouse has is refused, and stays."""

from __future__ import annotations

import pytest
from support.tables import make_table, schema_of

from tablestore_engine.catalog import Catalog, log_topics
from tablestore_engine.catalog.log_topics import replaced_log
from tablestore_engine.errors import AlreadyExistsError

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
