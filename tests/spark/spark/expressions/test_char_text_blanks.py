"""Blanks behind the length of a VARCHAR or CHAR are cut, by every write: as Spark's own INSERT into Parquet."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tablestore_engine.errors import SchemaError

pytestmark = pytest.mark.spark

COLUMNS = (
    "id int, v varchar(3), c char(3), r struct<v: varchar(2), n: int>, l array<varchar(2)>, "
    "m map<varchar(2), varchar(2)>"
)
TEXTS = ("abc", "abc  ", "ab ", "ab    ", "     ", "", "éö   ", "𝒳𝒴𝒵  ")
SHORT = ("ab", "ab  ", "a    ", "    ", "", "ö", "𝒳𝒴 ", "a ")
ROWS = [
    f"({i}, '{one}', '{one}', named_struct('v', '{two}', 'n', {i}), array('{two}', null), map('{two}', '{two}'))"
    for i, (one, two) in enumerate(zip(TEXTS, SHORT, strict=True))
]


@pytest.fixture(params=["", ", primary key (id) not enforced"], ids=["keyless", "keyed"])
def texts(request, store):
    store.sql(f"create table t ({COLUMNS}{request.param})")
    return store


@pytest.fixture
def expected(store):
    """The rows of Spark's own table."""
    spark = store.spark
    spark.sql("DROP DATABASE IF EXISTS judge CASCADE")
    spark.sql("CREATE DATABASE judge")
    spark.sql(f"CREATE TABLE judge.t ({COLUMNS}) USING parquet")
    spark.sql(f"INSERT INTO judge.t VALUES {', '.join(ROWS)}")
    yield spark.sql("SELECT * FROM judge.t ORDER BY id").collect()
    spark.sql("DROP DATABASE judge CASCADE")


def rows(store):
    return store.sql("select * from t order by id").collect()


def stored(store):
    return sorted(store.table("t").to_arrow().to_pylist(), key=lambda row: row["id"])


@pytest.mark.cover
def test_every_write_stores_what_spark_stores(texts, expected, path):
    given = f"values {', '.join(ROWS)} as s (id, v, c, r, l, m)"
    texts.sql(f"insert into t values {', '.join(ROWS)}")
    assert rows(texts) == expected
    assert [len(row["v"]) for row in stored(texts)] == [3, 3, 3, 3, 3, 0, 3, 3], "other readers find them, too"
    empty = "update t set v = null, c = null, r = null, l = null, m = null"
    texts.sql(empty)
    source = f"(select * from {given})"
    texts.sql(f"merge into t using {source} s on t.id = s.id when matched then update set v = s.v, c = s.c, r = s.r, "
              "l = s.l, m = s.m")  # fmt: skip
    assert rows(texts) == expected
    texts.sql("delete from t")
    texts.sql(f"merge into t using {source} s on t.id = s.id when not matched then insert *")
    assert rows(texts) == expected
    texts.sql(f"insert overwrite t select * from {given}")
    assert rows(texts) == expected
    frame = texts.spark.sql(f"select * from {given}")
    texts.write("t", frame, overwrite=True)
    assert rows(texts) == expected


@pytest.mark.cover
def test_changes_by_constants_and_by_columns(texts, path):
    texts.sql("insert into t (id, v) values (1, 'x'), (2, 'y')")
    texts.sql("update t set v = 'abc  ', c = 'abc     ', l = array('ab    ') where id = 1")
    texts.sql("update t set v = v || '      ', r = named_struct('v', 'z     ', 'n', 1) where id = 2")
    first, second = rows(texts)
    assert (first.v, first.c, first.l) == ("abc", "abc", ["ab"])
    assert (second.v, second.r.v) == ("y  ", "z ")
    texts.sql(
        "merge into t using (select 1 as id, 'def   ' as v) s on t.id = s.id when matched then update set v = s.v"
    )
    assert rows(texts)[0].v == "def"


def test_arrow_rows(texts):
    kinds = {"v": pa.string(), "n": pa.int32()}
    given = pa.table({
        "id": pa.array(range(len(TEXTS)), pa.int32()), "v": list(TEXTS), "c": list(TEXTS),
        "r": pa.array([{"v": one, "n": 1} for one in SHORT], pa.struct(kinds)),
        "l": pa.array([[one, None] for one in SHORT]),
        "m": pa.array([None] * len(SHORT), pa.map_(pa.string(), pa.string())),
    })  # fmt: skip
    texts.table("t").write(given)
    found = stored(texts)
    assert [row["v"] for row in found] == ["abc", "abc", "ab ", "ab ", "   ", "", "éö ", "𝒳𝒴𝒵"]
    short = ["ab", "ab", "a ", "  ", "", "ö", "𝒳𝒴", "a "]
    assert [(row["r"]["v"], row["l"][0]) for row in found] == list(zip(short, short, strict=True))


@pytest.mark.cover
def test_a_text_that_is_longer_by_more_than_blanks_is_refused(texts, path):
    for text in ("'abcd'", "'abc\\t'", "'abc \\n'", "'ab  x'"):
        for statement in (f"insert into t (id, v) values (1, {text})", f"insert into t (id, v) select 1, {text}"):
            with pytest.raises(SchemaError, match=r"Column 'v' has the type VARCHAR\(3\), and a value has"):
                texts.sql(statement)
    assert rows(texts) == []


def test_a_key_and_a_partition_are_one(store, path):
    store.sql("create table k (v varchar(3), n int, primary key (v) not enforced) with ('bucket' = '4')")
    store.sql("insert into k values ('abc', 1), ('ab', 1)")
    store.sql("insert into k select concat('abc', repeat(' ', 4)), 2")
    assert sorted(map(tuple, store.sql("select v, n from k").collect())) == [("ab", 1), ("abc", 2)]
    store.sql("create table p (n int, v varchar(3)) partitioned by (v)")
    store.sql("insert into p values (1, 'abc')")
    store.sql("insert into p select 2, 'abc   '")
    store.sql("insert into p partition (v = 'abc ') values (3)")
    assert [tuple(row) for row in store.sql("select v, count(*) from p group by v").collect()] == [("abc", 3)]
    store.sql("insert overwrite p partition (v = 'abc  ') values (4)")
    assert [tuple(row) for row in store.sql("select n, v from p").collect()] == [(4, "abc")]
