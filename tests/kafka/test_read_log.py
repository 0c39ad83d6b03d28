"""Reading a table through its log: rows of a snapshot, then the topic, without gap or overlap."""

from __future__ import annotations

import random
import time

import pyarrow as pa
import pytest
from confluent_kafka import OFFSET_END, TopicPartition
from confluent_kafka.admin import AdminClient
from support.kafka_broker import messages
from support.tables import DELETE, PUT, arrow_rows, compact, keyed_arrow, reload

from tablestore_engine.errors import LogError, OptionError
from tablestore_engine.operation.changelog.log_position import LogPosition, note_position
from tablestore_engine.operation.log_store import read_log as read_log_module
from tablestore_engine.operation.log_store.read_log import LogStart
from tablestore_engine.schema.table.schema_changes import SetOption
from tablestore_engine.store import TableStore


def upsert(table, *changes):
    kinds = [DELETE if v is None else PUT for _, v in changes]
    reload(table).write(arrow_rows(table.schema, [{"id": i, "v": v or 0} for i, v in changes], kinds))


def changes_in(batches):
    return [tuple(one.values()) for batch in batches for one in batch.to_pylist()]


def state_after(changes, rows=()):
    rows = dict(rows)
    for kind, number, value in changes:
        if kind in ("-U", "-D"):
            assert rows.pop(number) == value, "a retraction holds another row"
        else:
            rows[number] = value
    return rows


@pytest.mark.parametrize("mode", ["upsert", "all"])
def test_full_is_the_rows_then_the_changes(logged, mode):
    table = logged(bucket="2", **{"log.changelog-mode": mode})
    upsert(table, (1, 1), (2, 2), (3, 3))
    upsert(table, (1, 10))
    reader = table.read_log(follow=True, normalize=mode == "upsert")
    changes = []
    while len(changes) < 3:
        changes += changes_in([next(reader)])
    assert sorted(changes) == [("+I", 1, 10), ("+I", 2, 2), ("+I", 3, 3)]
    upsert(table, (2, None), (3, 30))
    upsert(table, (3, 31), (4, 4))
    until = time.monotonic() + 20
    while len(changes) < 9 and time.monotonic() < until:
        changes += changes_in([next(reader)])
    live = changes[3:]
    # The order of the changes of a key is known, that of different partitions is not.
    assert sorted(live) == [("+I", 4, 4), ("+U", 3, 30), ("+U", 3, 31), ("-D", 2, 2), ("-U", 3, 3), ("-U", 3, 30)]
    assert state_after(changes) == {1: 10, 3: 31, 4: 4}


def test_an_old_position_gives_the_same_rows(logged):
    """A process that died after the publication did not note it: messages behind the note are read from the topic."""
    table = logged(bucket="2")
    upsert(table, (1, 1), (2, 2))
    note = (table.io.read(table.paths.log_position(table.options.log_kafka_topic)),)
    upsert(table, (1, 5), (3, 3))
    table.io.write(table.paths.log_position(table.options.log_kafka_topic), *note)
    changes = changes_in(table.read_log("full", normalize=True))
    assert sorted(changes[:2]) == [("+I", 1, 1), ("+I", 2, 2)]
    assert state_after(changes) == {1: 5, 2: 2, 3: 3}
    note_position(table.state, LogPosition(table.options.log_kafka_topic))
    assert sorted(changes_in(table.read_log("full", normalize=True))[:2]) == [("+I", 1, 1), ("+I", 2, 2)]


def test_latest_and_from_a_time(logged):
    table = logged()
    upsert(table, (1, 1), (2, 2))
    time.sleep(0.05)
    between = int(time.time() * 1000)
    time.sleep(0.05)
    upsert(table, (2, 20), (1, None))
    assert changes_in(table.read_log("latest")) == []
    assert sorted(changes_in(table.read_log("from-timestamp", millis=between))) == [("+U", 2, 20), ("-D", 1, 1)]
    assert len(changes_in(table.read_log("from-timestamp", millis=0))) == 4
    by_option = table.alter(
        SetOption("log.scan", "from-timestamp"), SetOption("log.scan.timestamp-millis", str(between))
    )
    assert sorted(changes_in(by_option.read_log())) == [("+U", 2, 20), ("-D", 1, 1)]
    assert changes_in(table.alter(SetOption("log.scan", "latest")).read_log()) == []
    reader = table.read_log("latest", follow=True, normalize=True)
    first = changes_in([next(reader)])
    upsert(table, (2, 21))
    until = time.monotonic() + 20
    while len(first) < 2 and time.monotonic() < until:
        first += changes_in([next(reader)])
    assert first == [("-U", 2, 20), ("+U", 2, 21)]
    with pytest.raises(OptionError, match="needs a time"):
        table.read_log("from-timestamp")
    with pytest.raises(OptionError, match="not from 'middle'"):
        table.read_log("middle")


def test_a_reader_that_begins_anywhere_knows_what_rows_were(logged, broker, topic, monkeypatch):
    monkeypatch.setattr(read_log_module, "_AT_ONCE", 2)
    table, rng = logged(bucket="2"), random.Random(5)
    for number in range(12):
        upsert(table, *((key, rng.choice([None, number, number])) for key in rng.sample(range(8), 4)))
        if number % 4 == 3:
            compact(reload(table))
    sent, final = messages(broker.servers, topic), {one["id"]: one["v"] for one in reload(table).to_arrow().to_pylist()}
    ends = [max(offset for number, offset, *_ in sent if number == part) + 2 for part in (0, 1)]
    for offsets in [(0, 0), tuple(ends), *((rng.randrange(ends[0]), rng.randrange(ends[1])) for _ in range(15))]:
        before = {}
        for part, offset, _, value in sent:
            if offset < offsets[part]:
                row = value["after"] or value["before"]
                before.pop(row["id"], None)
                before |= {row["id"]: row["v"]} if value["after"] else {}
        changes = changes_in(read_log_module.read_log(reload(table).state, LogStart(0, offsets), normalize=True))
        assert state_after(changes, before) == final, offsets


def test_rows_before_messages_without_a_snapshot_are_not_known(logged):
    table = logged(**{"log.consistency": "eventual"})
    upsert(table, (1, 1))
    upsert(table, (1, 2))
    assert len(changes_in(table.read_log("from-timestamp", millis=0))) == 2
    with pytest.raises(LogError, match="Read without `normalize`"):
        list(table.read_log("from-timestamp", millis=0, normalize=True))


def test_a_table_that_is_replaced_with_more_buckets(logged, broker, topic, tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("tablestore_engine.kafka.topic_reader._CHECK_SECONDS", 0.0)
    table = logged()
    upsert(table, (100, 1))
    upsert(table, (100, None))
    reader = table.read_log(follow=True)
    next(reader)
    columns = "(id int not null, v int, primary key (id) not enforced)"
    options = f"'bucket' = '3', 'log.system' = 'kafka', 'log.kafka.bootstrap.servers' = '{broker.servers}'"
    TableStore(tmp_path).execute(f"create or replace table t {columns} with ({options}, 'log.kafka.topic' = '{topic}')")
    assert changes_in(reload(table).read_log()) == []
    upsert(table, *((number, 1) for number in range(20)))
    assert caplog.text == ""
    rows = state_after(changes_in(reload(table).read_log("from-timestamp", millis=0)))
    assert rows == dict.fromkeys(range(20), 1)
    assert {one[0] for one in messages(broker.servers, topic)} == {0, 1, 2}
    with pytest.raises(LogError, match="got more partitions than the 1 that are read"):
        for _ in range(20):
            next(reader)


def test_a_table_without_a_log_says_so(tmp_path):
    from support.tables import keyed_table

    table = keyed_table(tmp_path)
    table.write(keyed_arrow(1, 1))
    with pytest.raises(LogError, match="has no log"):
        table.read_log()


@pytest.mark.parametrize("normalize", [False, True])
def test_the_rows_are_there_when_all_messages_have_expired(logged, broker, topic, normalize):
    table = logged(bucket="2")
    upsert(table, *((at, at) for at in range(5)))
    client = AdminClient({"bootstrap.servers": broker.servers})
    ends = [TopicPartition(topic, number, OFFSET_END) for number in range(2)]
    for future in client.delete_records(ends).values():
        future.result(10)
    found = pa.Table.from_batches(reload(table).read_log("full", normalize=normalize))
    assert sorted(found.column("id").to_pylist()) == [*range(5)]
    upsert(table, (7, 7))
    found = pa.Table.from_batches(reload(table).read_log("full", normalize=normalize))
    assert sorted(found.column("id").to_pylist()) == [*range(5), 7]
