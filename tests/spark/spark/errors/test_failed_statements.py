"""A value that cannot be computed: the message names the statement and its table, whatever verb found it."""

from __future__ import annotations

import re

import pytest
from support.soak import SOAK

from tablestore_engine.errors import ColumnNotFound, TableStoreError

COLUMNS = "id int, v int, s string, a array<int>, tiny tinyint"
KINDS = {
    "keyed": f"({COLUMNS}) tblproperties ('primary-key' = 'id')",
    "keyless": f"({COLUMNS})",
    "partitioned": f"({COLUMNS}, p int) partitioned by (p)",
    "vectors": f"({COLUMNS}) tblproperties ('deletion-vectors.enabled' = 'true')",
    "sums": "(id int, v int) tblproperties ('primary-key' = 'id', 'merge-engine' = 'aggregation', "
    "'fields.v.aggregate-function' = 'sum')",
}
CHANGES = [
    ("update {} set v = 1 / v", "UPDATE", "DIVIDE_BY_ZERO"),
    ("update {} set v = 2147483647 + id", "UPDATE", "ARITHMETIC_OVERFLOW"),
    ("update {} set v = cast(s as int)", "UPDATE", "The value 'x'"),
    ("update {} set v = a[5]", "UPDATE", "The index 5"),
    ("update {} set tiny = id + 200", "UPDATE", "'tiny' (tinyint) cannot hold the value 201"),
    ("update {} set s = 'q' where 1 / v = 2", "UPDATE", "DIVIDE_BY_ZERO"),
    ("delete from {} where 1 / v = 2", "DELETE FROM", "DIVIDE_BY_ZERO"),
    ("delete from {} where cast(s as int) = 2", "DELETE FROM", "The value 'x'"),
    ("merge into {} t using {src} w on t.id = w.id when matched then update set v = 1 / w.z", "MERGE INTO", "BY_ZERO"),
    (
        "merge into {} t using {src} w on t.id = w.id when matched and 1 / w.z = 1 then update set v = 1",
        "MERGE INTO",
        "DIVIDE_BY_ZERO",
    ),
    ("merge into {} t using {src} w on t.id = 1 / w.z when matched then delete", "MERGE INTO", "DIVIDE_BY_ZERO"),
    (
        "merge into {} t using {src} w on t.id = w.id + 5 when not matched then insert (id, v) values (w.id, 1 / w.z)",
        "MERGE INTO",
        "DIVIDE_BY_ZERO",
    ),
]
INSERTIONS = [
    ("insert into {} (id, v{p}) select id, 1 div v{one} from src", "INSERT INTO", "DIVIDE_BY_ZERO"),
    ("insert into {} (id, v{p}) values (1, cast('x' as int){one})", "INSERT INTO", "try_cast"),
    ("insert overwrite {} (id, v{p}) select id, cast(s as int){one} from src", "INSERT OVERWRITE", "The value 'x'"),
    ("create or replace table {} as select id, 1 div v as v from src", "CREATE TABLE", "DIVIDE_BY_ZERO"),
]
INTERNALS = re.compile(r"__\w+|\bin_source\b|org\.apache|java\.|\tat |Traceback|#\d")


@pytest.fixture(params=KINDS)
def shop(request, store):
    """A store with the table `t` of a kind, and the table `src` with the same rows; the kind is its `kind`."""
    store.sql(f"create table t {KINDS[request.param]}")
    store.sql(f"create table src {KINDS['keyless']}")
    store.sql("insert into src values (1, 0, 'x', array(1), 1), (2, 5, '7', array(1), 2)")
    columns = {"sums": "id, v", "partitioned": "*, 3 as p"}.get(request.param, "*")
    store.sql(f"insert into t select {columns} from src")
    store.kind = request.param
    return store


def failure(store, text: str) -> TableStoreError:
    before = store.table("t").latest_snapshot().id
    with pytest.raises(TableStoreError) as caught:
        store.sql(text)
    assert store.table("t").latest_snapshot().id == before, "the statement changed the table"
    return caught.value


def check(error: TableStoreError, words: str, reason: str) -> None:
    assert str(error).startswith(f"{words} default.t failed: "), str(error)
    assert str(error).count("default.t failed") == 1
    assert reason in str(error)
    assert not INTERNALS.search(str(error)), str(error)


@pytest.mark.cover
def test_a_statement_that_fails_by_a_value_names_its_table(shop, path):
    source = "(select 1 as id, 0 as z union all select 2, 0)"
    one, p = (", 3", ", p") if shop.kind == "partitioned" else ("", "")
    # By default each kind fails by every second statement; `make soak` runs all of them in the other way.
    changes = [] if shop.kind == "sums" else CHANGES if SOAK else CHANGES[list(KINDS).index(shop.kind) % 2 :: 2]
    for text, words, reason in [*changes, *INSERTIONS]:
        check(failure(shop, text.format("t", src=source, one=one, p=p)), words, reason)


@pytest.mark.cover
def test_a_dataframe_that_fails_by_a_value_names_its_table(shop, path):
    columns = {"sums": "id, 1 div v as v", "partitioned": "id, 1 div v as v, s, a, tiny, 3 as p"}
    frame = shop.sql(f"select {columns.get(shop.kind, 'id, 1 div v as v, s, a, tiny')} from src")
    for overwrite in (False, True):
        with pytest.raises(TableStoreError) as caught:
            shop.write("t", frame, overwrite=overwrite)
        check(caught.value, "Writing to table", "DIVIDE_BY_ZERO")
    assert shop.table("t").latest_snapshot().id == 1


def test_partitions_that_fail_by_a_value_name_their_table(store, path):
    store.sql(f"create table t {KINDS['partitioned']}")
    store.sql("insert into t values (1, 0, 'x', array(1), 1, 3)")
    columns = "id, v, s, a, tiny"
    for text in (
        "insert overwrite t partition (p = 3) select id, 1 div v, s, a, tiny from t",
        f"insert overwrite t partition (p) select {columns}, 1 div v from t",
        f"insert into t partition (p) select {columns}, 1 div v from t",
        "insert into t replace where p = 3 select id, 1 div v, s, a, tiny, 3 from t",
    ):
        words = "INSERT INTO" if text.startswith("insert into") else "INSERT OVERWRITE"
        check(failure(store, text), words, "DIVIDE_BY_ZERO")


def test_new_tables_name_themselves_and_are_not_left(store):
    for text in (
        "create table t as select 1 div id as x from range(2)",
        "create or replace table t as select cast(concat('x', id) as int) as x from range(2)",
    ):
        with pytest.raises(TableStoreError, match=r"^CREATE TABLE default\.t failed: \["):
            store.sql(text)
        assert not store.catalog.table_exists("default", "t")


def test_the_user_s_own_expression_is_shown(store):
    store.sql(f"create table t {KINDS['keyless']}")
    store.sql("insert into t values (1, 0, 'x', array(1), 1)")
    assert str(failure(store, "update t set v = 3, tiny = 1 + (7 / v)")).splitlines()[-2:] == ["7 / v", "^^^^^"]
    text = "merge into t using (select 1 as id) s on t.id = s.id when matched and cast(t.s as int) = 1 then delete"
    assert str(failure(store, text)).splitlines()[-2:] == ["cast(t.s as int)", "^" * 16]


def test_other_mistakes_name_the_table_too(store):
    store.sql(f"create table t {KINDS['keyless']}")
    store.sql("insert into t values (1, 0, 'x', array(1), 1)")
    with pytest.raises(ColumnNotFound, match=r"^UPDATE default\.t failed: Column 'w' does not exist\. There are:"):
        store.sql("update t set w = 1")
    check(failure(store, "update t set v = w"), "UPDATE", "UNRESOLVED_COLUMN")
    check(failure(store, "alter table t add constraint c check (1 / v > 0)"), "ALTER TABLE", "DIVIDE_BY_ZERO")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("explain update t set w = 1", "EXPLAIN UPDATE default.t failed: Column 'w' does not exist"),
        ("explain delete from t where w = 1", "EXPLAIN DELETE FROM default.t failed: [UNRESOLVED_COLUMN"),
        ("call sys.compact('t', 'zz')", "CALL sys.compact on default.t failed: 'zz' is not a partition"),
        ("call sys.rollback('t', '99')", "Snapshot 99 of table default.t does not exist"),
        ("select * from t version as of 99", "Snapshot 99 of table default.t does not exist"),
        ("select * from t version as of 'nope'", "Tag 'nope' of table default.t does not exist"),
        ("select * from t timestamp as of 'x'", "TIMESTAMP AS OF 'x', of table default.t, is not a time"),
        ("create table n (id int check (w > 0))", "CREATE TABLE default.n failed: The CHECK constraint"),
        ("create table n (id int as (w + 1))", "CREATE TABLE default.n failed: Column 'id' AS"),
    ],
)
def test_mistaken_names_are_shown_with_the_table(store, text, words):
    store.sql(f"create table t {KINDS['keyless']}")
    store.sql("insert into t values (1, 0, 'x', array(1), 1)")
    error = failure(store, text)
    assert str(error).startswith(words)
    assert "`SELECT`" not in str(error)
