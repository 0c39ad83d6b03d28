"""Streams from tables and into tables: what arrives, how often, and what is refused."""

from __future__ import annotations

import threading
import time

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql.datasource import DataSource
from support.spark_rows import rows

from tablestore_engine.errors import OptionError, PrimaryKeyError, SchemaError
from tablestore_engine.operation.commit.consumed_positions import batches_of
from tablestore_engine.spark.stream import stream_source

pytestmark = pytest.mark.spark

NOW = {"availableNow": True}
COLUMNS = (
    "id INT, c CHAR(4), d DECIMAL(10, 2), ts TIMESTAMP, tz TIMESTAMP_LTZ, b BINARY, l ARRAY<INT>, m MAP<STRING, INT>,"
    " s STRUCT<a: INT, b: STRING>"
)
FULL = (
    "(1, 'a', 1.5, timestamp_ntz'1960-01-01 00:00:01.5', timestamp'2020-01-01 00:00:00', x'00ff', array(1, null),"
    " map('x', 1), named_struct('a', 1, 'b', 'q'))"
)


def run(store, target, frame, checkpoint, mode="append"):
    """Write a stream until nothing is new. Returns the rows that it read, batch by batch."""
    query = store.write_stream(target, frame, checkpoint_location=checkpoint, output_mode=mode, trigger=NOW)
    query.awaitTermination()
    return [one.numInputRows for one in query.recentProgress if one.numInputRows]


def test_a_copy_of_a_keyed_table_follows_it(store, tmp_path):
    for name in ("source", "copy"):
        store.execute(f"CREATE TABLE {name} ({COLUMNS}, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
    store.execute(f"INSERT INTO source VALUES {FULL}, (2, null, null, null, null, null, null, null, null)")

    def follow():
        read = run(store, "copy", store.read_stream("source"), tmp_path / "checkpoint")
        assert store.table("copy").to_arrow().sort_by("id").equals(store.table("source").to_arrow().sort_by("id"))
        return read

    assert follow() == [2]
    store.execute("UPDATE source SET c = 'zz' WHERE id = 2")
    store.execute("DELETE FROM source WHERE id = 1")
    store.execute("INSERT INTO source (id) VALUES (7)")
    assert follow() == [4], "+U and -U, -D, +I"
    before = store.table("copy").latest_snapshot()
    store.execute("CALL sys.compact('copy')")
    latest = store.table("copy").latest_snapshot()
    assert latest.id > before.id
    assert before.commit_identifier == 1, "the number of the batch"
    assert batches_of(latest, before.commit_user) == 2, "known by every later commit"


def test_the_format_needs_only_a_folder(store, tmp_path):
    store.execute("CREATE TABLE t (id INT, c CHAR(4), PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'bb')")
    store.execute("DELETE FROM t WHERE id = 1")
    plain = store.spark.readStream.format("tablestore").option("scan.mode", "from-snapshot")
    folder = store.table("t").path
    frame = plain.option("scan.snapshot-id", 1).load(f"file:{folder}/")
    assert [field.simpleString() for field in frame.schema] == ["_row_kind:string", "id:int", "c:string"]
    query = frame.where("c = 'b'").writeStream.format("memory").queryName("plain").trigger(**NOW).start()
    query.awaitTermination()
    assert sorted(map(tuple, store.spark.table("plain").collect())) == [("+I", 2, "b   ")], (
        "what is different after a batch"
    )
    with pytest.raises(AnalysisException, match=r"Did you mean 'scan\.snapshot-id'"):
        plain.option("scan.snapshot-ids", 1).load(folder)


def test_a_format_that_spark_does_not_find_is_registered(store, monkeypatch):
    """Spark's own search fails where its Python is another one, or where any package called `pyspark_…` does."""

    class Unfound(DataSource):
        @classmethod
        def name(cls):
            return "unfound"

        def schema(self):
            return "known int"

    store.execute("CREATE TABLE t (id INT)")
    monkeypatch.setattr(stream_source, "FORMAT", "unfound")
    monkeypatch.setattr(stream_source, "TableStream", Unfound)
    assert store.read_stream("t").columns == ["known"]


def test_aggregates_limits_and_consumers(store, tmp_path):
    store.execute("CREATE TABLE events (id INT)")
    for number in range(2):
        store.execute(f"INSERT INTO events VALUES ({number}), ({number})")
    store.execute("CREATE TABLE counts (id INT, count BIGINT, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("CREATE TABLE whole (id INT, count BIGINT)")
    store.execute("INSERT INTO whole VALUES (7, 7)")
    options = {"read.stream.maxFilesPerTrigger": 1, "consumer-id": "counter"}
    counted = store.read_stream("events", options=options).groupBy("id").count()
    assert run(store, "counts", counted, tmp_path / "update", "update") == [2, 2], "one file at a time"
    assert rows(store, "SELECT * FROM counts") == [(0, 2), (1, 2)]
    assert rows(store, "SELECT * FROM events$consumers") == [("counter", 3)]
    del options["consumer-id"]
    for batches in ([2, 2], []):
        counted = store.read_stream("events", options=options).groupBy("id").count()
        assert run(store, "whole", counted, tmp_path / "complete", "complete") == batches
        assert rows(store, "SELECT * FROM whole") == [(0, 2), (1, 2)], "each batch replaces what was there"


def test_a_stream_writer_and_overwrites_at_the_same_time(store, tmp_path):
    """Appends of a stream never fail by others; an overwrite of what a stream does not write loses nothing."""
    store.execute("CREATE TABLE source (p STRING, id INT)")
    store.execute("CREATE TABLE both (p STRING, id INT, PRIMARY KEY (p, id) NOT ENFORCED) PARTITIONED BY (p)")
    frame = store.read_stream("source", options={"read.stream.maxFilesPerTrigger": 1}).drop("_row_kind")
    for number in range(3):
        store.execute(f"INSERT INTO source VALUES ('live', {number})")
    failures = []

    def overwrite():
        try:
            for number in range(4):
                store.execute(f"INSERT OVERWRITE both PARTITION (p = 'past') VALUES ({number})")
            store.execute("CALL sys.compact('both')")
        except Exception as error:
            failures.append(error)

    other = threading.Thread(target=overwrite)
    other.start()
    assert run(store, "both", frame, tmp_path / "checkpoint") == [1] * 3
    other.join()
    assert failures == []
    assert rows(store, "SELECT * FROM both") == [*(("live", n) for n in range(3)), ("past", 3)]


def test_large_batches_go_through_the_write_buffer(store, tmp_path, monkeypatch):
    """Also with row kinds, several changes of a key, and a buffer that holds some rows only."""
    monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    columns, key = "p INT, id INT, v INT", "PRIMARY KEY (p, id) NOT ENFORCED"
    store.execute(
        f"CREATE TABLE source ({columns}, {key}) PARTITIONED BY (p)"
        " WITH ('bucket' = '1', 'changelog-producer' = 'lookup')"
    )
    for number in range(3):
        store.execute(f"INSERT INTO source SELECT id % 5, id, {number} FROM range(2000) WHERE id % 3 >= {number}")
    store.execute("DELETE FROM source WHERE id % 7 = 0")
    store.execute(
        f"CREATE TABLE copy ({columns}, {key}) PARTITIONED BY (p) WITH ('bucket' = '1', 'write-buffer-size' = '1 kb')"
    )
    frame = store.read_stream("source", options={"scan.mode": "from-snapshot", "scan.snapshot-id": 1})
    assert run(store, "copy", frame, tmp_path / "c") == [2000 + 2 * (1333 + 666) + 286]
    both = [store.table(name).to_arrow().sort_by("id") for name in ("source", "copy")]
    assert both[0].equals(both[1])
    assert len(store.table("copy").live_files()) == 5, "one for each partition"


@pytest.mark.cover
@pytest.mark.parametrize("mode", ["full", "latest"])
@pytest.mark.parametrize("columns", ["id INT", "id INT, PRIMARY KEY (id) NOT ENFORCED"])
def test_a_first_batch_that_failed_is_the_same_when_it_runs_again(store, tmp_path, mode, columns):
    store.execute(f"CREATE TABLE source ({columns})")
    store.execute("CREATE TABLE copy (id INT)")
    store.execute("INSERT INTO source VALUES (1)")
    checkpoint = str(tmp_path / "checkpoint")
    frame = store.read_stream("source", options={"scan.mode": mode})

    def fail(rows, number):
        if not rows.isEmpty():
            raise ValueError("it was killed")

    query = frame.writeStream.foreachBatch(fail).option("checkpointLocation", checkpoint).start()
    if mode == "latest":
        until = time.monotonic() + 60
        while "Waiting for" not in query.status["message"] and time.monotonic() < until:
            time.sleep(0.05)
        store.execute("INSERT INTO source VALUES (2)")
    with pytest.raises(Exception, match="it was killed"):
        query.awaitTermination()
    store.execute("INSERT INTO source VALUES (3)")
    store.execute("INSERT INTO source VALUES (4)")
    store.write_stream("copy", frame, checkpoint_location=checkpoint, trigger=NOW).awaitTermination()
    expected = [1, 3, 4] if mode == "full" else [2, 3, 4]
    assert sorted(store.table("copy").to_arrow().column("id").to_pylist()) == expected


def test_impossible_streams_are_refused(store, tmp_path):
    store.execute("CREATE TABLE t (id INT)")
    source = store.read_stream("t")
    source.createOrReplaceTempView("of_source")
    plain = store.spark.readStream.format("TableStore").option("Path", store.table("t").path).load()
    for own in (source, source.filter("id > 1").unionByName(source), store.spark.table("of_source"), plain):
        with pytest.raises(OptionError, match=r"reads table default\.t.*another table"):
            store.write_stream("t", own, checkpoint_location=tmp_path / "c")
    store.execute("CREATE TABLE u (id INT)")
    for use in (
        lambda: store.spark.read.format("tablestore").load(),
        lambda: store.spark.readStream.format("tablestore").load(),
        lambda: store.spark.read.format("tablestore").load(store.table("t").path).collect(),
        lambda: store.spark.range(1).write.format("tablestore").mode("append").save(),
    ):
        with pytest.raises(AnalysisException, match="The format 'tablestore' is ") as found:
            use()
        assert "Traceback" not in str(found.value)
    stream = store.read_stream("t")
    for none in ({}, {"checkpoint_location": ""}, {"checkpoint_location": " "}):
        with pytest.raises(OptionError, match=r"no checkpoint location.*Give checkpoint_location"):
            store.write_stream("u", stream, **none)
    with pytest.raises(Exception, match=r"can only be read.*write_stream"):
        writer = stream.writeStream.format("tablestore").option("checkpointLocation", str(tmp_path / "d"))
        writer.start(store.table("t").path).awaitTermination()
    with pytest.raises(OptionError, match="no primary key"):
        store.write_stream("u", stream, checkpoint_location=tmp_path / "c", output_mode="update")
    with pytest.raises(OptionError, match="append, update, complete"):
        store.write_stream("u", stream, checkpoint_location=tmp_path / "c", output_mode="replace")
    with pytest.raises(SchemaError, match="no column id"):
        store.write_stream("u", stream.selectExpr("id AS x"), checkpoint_location=tmp_path / "c")
    with pytest.raises(SchemaError, match="no stream"):
        store.write_stream("u", store.read("t"), checkpoint_location=tmp_path / "c")
    with pytest.raises(SchemaError, match="write_stream"):
        store.write("t", stream)
    with pytest.raises(OptionError, match=r"Did you mean 'scan.mode'"):
        store.read_stream("t", options={"scan.mod": "latest"})
    assert not (tmp_path / "c").exists()


def test_a_batch_that_fails_says_why(store, tmp_path):
    store.execute("CREATE TABLE t (id INT)")
    store.execute("INSERT INTO t VALUES (null)")
    store.execute("CREATE TABLE k (id INT, PRIMARY KEY (id) NOT ENFORCED)")
    with pytest.raises(PrimaryKeyError, match="'id' has 1 null"):
        run(store, "k", store.read_stream("t"), tmp_path / "c")
