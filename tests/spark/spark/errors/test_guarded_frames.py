"""What is done with a frame of `TableStore.sql` raises the engine's errors: one message, without a stack of Java."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.files import data_files

from tablestore_engine.cli import main
from tablestore_engine.errors import (
    CorruptDataError,
    CorruptMetadataError,
    ExecutionError,
    NegativeCountError,
    ParseError,
    SqlError,
    StorageError,
    TableStoreError,
)
from tablestore_engine.spark.errors.guarded_frames import guarded

BROKEN = "select cast(concat('x', id) as int) as n, id from range(3)"
ACTIONS = {
    "collect": lambda frame, to: frame.collect(),
    "show": lambda frame, to: frame.show(),
    "count": lambda frame, to: frame.where("n > 1").count(),
    "take": lambda frame, to: frame.take(1),
    "first": lambda frame, to: frame.first(),
    "toPandas": lambda frame, to: frame.toPandas(),
    "toArrow": lambda frame, to: frame.toArrow(),
    "toLocalIterator": lambda frame, to: list(frame.toLocalIterator()),
    "foreach": lambda frame, to: frame.foreach(print),
    "write": lambda frame, to: frame.write.mode("overwrite").parquet(to),
    "writeTo": lambda frame, to: frame.writeTo("nowhere.at.all").append(),
    "select": lambda frame, to: frame.select(frame.n + 1).collect(),
    "join": lambda frame, to: frame.join(frame.sparkSession.range(2), "id").collect(),
    "groupBy": lambda frame, to: frame.groupBy("id").agg({"n": "max"}).collect(),
    "na": lambda frame, to: frame.na.drop().collect(),
    "an unknown column": lambda frame, to: frame.select("nope"),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_raises_one_error_of_the_engine(store, tmp_path, action, recwarn):
    with pytest.raises(TableStoreError) as caught:
        ACTIONS[action](store.sql(BROKEN), str(tmp_path / "out"))
    check_one_message(caught.value)
    assert not [one for one in recwarn if "Caused by" in str(one.message)]


def check_one_message(error):
    """A message without a stack; and what Python prints of it, when nobody catches it, has no frame of Java's side."""
    assert len(str(error).splitlines()) <= 4, str(error)
    printed = "".join(traceback.format_exception(error))
    for foreign in ("Py4J", "py4j/", "pyspark/sql", "\tat ", "Caused by", "During handling", "direct cause"):
        assert foreign not in printed, printed


def test_frames_are_spark_s_own_otherwise(store):
    from pyspark.sql import DataFrame, functions

    frame = store.sql("select id from range(4)")
    assert isinstance(frame, DataFrame)
    assert frame.columns == ["id"]
    assert frame.schema is frame.schema
    assert not hasattr(frame, "nope")
    assert [row.id for row in frame.toLocalIterator()] == [0, 1, 2, 3]
    other = store.spark.range(2).join(frame, "id").select(functions.col("id"))
    assert sorted(other.collect()) == sorted(frame.limit(2).collect())
    store.sql("create table t (id bigint)")
    assert store.write("t", frame) == 4
    assert store.read("t").count() == 4


LOST = {
    "saveAsTable": lambda frame: frame.write.saveAsTable("t"),
    "by keyword": lambda frame: frame.write.mode("append").saveAsTable(name="t"),
    "insertInto": lambda frame: frame.write.insertInto("t"),
    "writeTo": lambda frame: frame.select("id").writeTo("other").using("parquet").create(),
    "toTable": lambda frame: stream_of(frame).toTable("other"),
}


def stream_of(frame):
    """The writer of a stream; the rows do not matter, as it is refused before it starts."""
    return guarded(frame.sparkSession.readStream.format("rate").load()).writeStream.queryName("lost")


@pytest.mark.parametrize("write", LOST)
def test_a_write_into_spark_s_own_catalog_is_refused_where_it_would_be_lost(store, write):
    store.sql("create table t (id int)")
    with pytest.raises(SqlError, match=r"ends with this process.*store\.write") as caught:
        LOST[write](store.sql("select 1 as id"))
    check_one_message(caught.value)
    assert not store.spark.catalog.tableExists("t")
    assert not store.spark.catalog.tableExists("other")


DAMAGES = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "zeroed": lambda data: bytes(len(data)),
    "wrong magic": lambda data: b"XXXX" + data[4:-4] + b"XXXX",
    "broken pages": lambda data: data[:4] + bytes(len(data) // 2) + data[4 + len(data) // 2 :],
    "missing": None,
}
DOORS = {
    "query": lambda store: store.sql("select * from t").collect(),
    "frame": lambda store: store.read("t").collect(),
    "create as": lambda store: store.sql("create table copy as select * from t"),
    "update": lambda store: store.sql("update t set v = 'w' where id > 0"),
    "procedure": lambda store: store.sql(
        "call sys.compact(table => 'default.t', compact_strategy => 'full')"
    ).collect(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_data_file_is_named(store, damage):
    store.sql("create table t (id int, v string, primary key (id) not enforced) with ('write-only' = 'true')")
    store.sql("insert into t select cast(id as int), concat('some text ', id) from range(500)")
    store.sql("insert into t select cast(id as int), concat('other text ', id) from range(400)")
    file = Path(max(data_files(store.table("t")), key=lambda path: Path(path).stat().st_size))
    if DAMAGES[damage] is None:
        file.unlink()
    else:
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
    doors = DOORS if damage in ("empty", "broken pages", "missing") else {"query": DOORS["query"]}
    for name, door in doors.items():
        with pytest.raises((CorruptDataError, StorageError)) as caught:
            door(store)
        text = str(caught.value)
        assert f"{file} (table default.t): " in text, name
        assert "CALL sys.rollback" in text
        check_one_message(caught.value)
    shown = CliRunner().invoke(main, ["sql", "-w", str(store.catalog.warehouse), "select count(v) from t"])
    assert (shown.exit_code, len(shown.stderr.splitlines())) == (3, 1), shown.output
    assert f"{file} (table default.t)" in shown.stderr


def test_a_file_that_breaks_while_a_frame_waits(store):
    store.sql("create table t (id int, v string)")
    store.sql("insert into t values (1, 'x')")
    (file,) = data_files(store.table("t"))
    frame = store.sql("select * from t").where("v > ''")
    Path(file).unlink()
    with pytest.raises(StorageError) as caught:
        frame.collect()
    assert f"{file} (table default.t): " in str(caught.value)


@pytest.mark.parametrize("damage", ["missing", "zeroed"])
def test_an_index_file_that_a_worker_reads_is_named(store, monkeypatch, damage):
    monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    store.sql("create table t (id int, v string, primary key (id) not enforced) with ('bucket' = '-1')")
    store.sql("insert into t select cast(id as int), 'x' from range(50)")
    (file,) = (Path(store.table("t").path) / "index").iterdir()
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(bytes(file.stat().st_size))
    with pytest.raises((CorruptMetadataError, StorageError)) as caught:
        store.sql("insert into t select cast(id as int), 'y' from range(60)")
    assert f"{file} (table default.t): " in str(caught.value)
    check_one_message(caught.value)


def test_a_retraction_without_its_row(store):
    store.sql("create table m (id int, v string) with ('merge-engine' = 'tablestore-count')")
    store.sql("insert into m values (1, 'x')")
    store.sql("insert into m (id, v, _row_kind) values (2, 'y', '-D')")
    with pytest.raises(NegativeCountError) as caught:
        store.sql("select * from m").collect()
    assert ", in table default.m (total -1): {'id': 2, 'v': " in str(caught.value)
    check_one_message(caught.value)


def test_expressions_of_row_level_statements(store):
    """Spark computes these while it plans the engine's own queries, which no message quotes."""
    store.sql("create table u (id int, v int, s string)")
    store.sql("insert into u values (1, 1, 'a'), (2, 2, 'b')")
    for statement in (
        "update u set v = cast('x' as int)",
        "delete from u where id = 'x'",
        "update u set v = (select id from u)",
    ):
        with pytest.raises(TableStoreError) as caught:
            store.sql(statement)
        assert "__" not in str(caught.value) and "#" not in str(caught.value), str(caught.value)
        check_one_message(caught.value)


@pytest.mark.parametrize(
    ("text", "code", "marked"),
    [("select cast('x' as int)", 3, "cast('x' as int)"), ("select 1\nfrm t whre x", 1, "t whre x")],
)
def test_on_the_command_line_an_error_is_one_message(store, tmp_path, text, code, marked):
    run = CliRunner().invoke(main, ["sql", "-w", str(tmp_path), text])
    assert run.exit_code == code, run.output
    said, *_, line, mark = run.stderr.splitlines()
    assert said.startswith("Error: [")
    assert len(run.output.splitlines()) <= 5
    assert line[mark.index("^") :].startswith(marked)


HINTS = [
    ("select datediff('day', date'2020-01-01', date'2021-01-01')", "datediff(DAY, …)"),
    ("select cast('{}' as jsonb)", "Use STRING."),
    ("select v:['key'] from (select 'x' as v)", "get_json_object(value, '$.key')"),
    ("select count(distinct id) over (partition by id % 2) from range(3)", "size(collect_set(x) OVER (…))"),
    ("select count(distinct id, id % 3) over (partition by id % 2) from range(3)", "NULL, struct(x, y))) OVER (…))"),
    ("select iff(true, 1, 2)", "Write if(condition, a, b)."),
    ("select array(1, 2)[safe_offset(0)]", "Write get(array, 0)."),
    ("select to_varchar(1)", "CAST(value AS STRING)"),
    ("select date_trunc(d, month) from (select current_date() as d)", "date_trunc('MONTH', time)"),
    ("select top 3 id from range(9)", "LIMIT n"),
    ("select * exclude (id) from range(9)", "* EXCEPT (…)"),
]


@pytest.mark.parametrize(("text", "hint"), HINTS)
def test_the_hint_says_which_statement_to_write_instead(store, text, hint):
    with pytest.raises((ParseError, SqlError)) as caught:
        store.sql(text)
    assert hint in caught.value.hint


def test_an_argument_of_python_is_refused_in_the_same_way(store):
    with pytest.raises(ExecutionError):
        store.sql("select 1 as a").select(1.5)
