"""Merge engines through SQL: what Spark folds at read time is what Arrow folds when it compacts."""

from __future__ import annotations

import random

import pytest
from support.drawn_rows import drawn_rows
from support.invariants import check_invariants
from support.soak import seeds
from support.spark_rows import by_arrow, by_spark

from tablestore_engine.errors import ExecutionError, OptionError, SqlError
from tablestore_engine.schema.types.sql_literals import quoted_name

pytestmark = pytest.mark.spark

# (column, type, options, SQL of a value for the random number {r} from 0 to 99)
COLUMNS = [
    ("total", "INT", "sum", {}, "cast({r} - 50 as int)"),
    ("money", "DECIMAL(12, 2)", "sum", {}, "cast({r} / 8 as decimal(12, 2))"),
    ("ratio", "FLOAT", "sum", {}, "cast({r} / 4 as float)"),
    ("power", "BIGINT", "product", {}, "cast({r} % 3 - 1 as bigint)"),
    ("scale", "DOUBLE", "product", {}, "cast({r} % 3 - 0.5 as double)"),
    ("newest", "TIMESTAMP", "max", {}, "timestamp_seconds({r} * 1000)"),
    ("name", "STRING", "max", {}, "concat('n', {r})"),
    ("least", "DOUBLE", "min", {}, "if({r} > 90, double('NaN'), {r} / 3d)"),
    ("most", "DOUBLE", "max", {}, "if({r} > 90, double('NaN'), {r} / 3d)"),
    ("day", "DATE", "min", {}, "date_add(DATE'2024-01-01', {r})"),
    ("said", "STRING", "last_value", {}, "concat('s', {r})"),
    ("heard", "STRING", "last_non_null_value", {}, "concat('h', {r})"),
    ("began", "INT", "first_value", {}, "{r}"),
    ("origin", "MAP<STRING, INT>", "first_non_null_value", {}, "map('k', {r})"),
    ("all_good", "BOOLEAN", "bool_and", {}, "{r} > 10"),
    ("any_bad", "BOOLEAN", "bool_or", {}, "{r} > 90"),
    ("words", "STRING", "listagg", {}, "element_at(array('a', ' ', 'b,c', ''), {r} % 4 + 1)"),
    ("tags", "STRING", "listagg", {"list-agg-delimiter": "|.", "distinct": "true"},
     "element_at(array('a', 'a|.b', 'c|.a', ' ', 'b|.|.d'), {r} % 5 + 1)"),
    ("seen", "ARRAY<INT>", "collect", {}, "array({r} % 5, null)"),
    ("seen_rows", "ARRAY<STRUCT<a: INT, `b c`: STRING>>", "nested_update", {},
     "array(named_struct('a', {r} % 2, 'b c', 'x'), null)"),
    ("by_a", "ARRAY<STRUCT<a: INT, `b c`: STRING>>", "nested_update", {"nested-key": "a"},
     "array(named_struct('a', {r} % 2, 'b c', concat('x', {r})), named_struct('a', {r} % 3, 'b c', 'y'))"),
    ("updated", "ARRAY<STRUCT<a: INT, `b c`: STRING>>", "nested_partial_update", {"nested-key": "a"},
     "array(named_struct('a', {r} % 2, 'b c', nullif(concat({r} % 4), '1')), named_struct('a', null, 'b c', 'y'))"),
    ("in_order", "ARRAY<STRUCT<a: INT, `b c`: STRING>>", "nested_update",
     {"nested-key": "a", "nested-sequence-field": "b c"},
     "array(named_struct('a', {r} % 2, 'b c', nullif(concat({r} % 4), '1')), named_struct('a', null, 'b c', 'y'))"),
    ("with_keys", "ARRAY<STRUCT<a: INT, `b c`: STRING>>", "nested_update",
     {"nested-key": "a", "nested-key-null-strategy": "ignore", "count-limit": "9"},
     "array(named_struct('a', {r} % 4, 'b c', 'x'), named_struct('a', null, 'b c', 'y'))"),
    ("by_time", "MAP<STRING, STRUCT<n: INT, `b c`: STRING>>", "merge_map_with_keytime", {},
     "map(concat('k', {r} % 3), if({r} % 3 = 0, null, named_struct('n', {r}, 'b c', nullif(concat({r} % 7), '3'))))"),
    ("kept", "STRING", "primary-key", {}, "concat('p', {r})"),
    ("counted", "BIGINT", "count", {}, "{r}"),
    ("factor", "DECIMAL(12, 2)", "product", {}, "cast(({r} + 1) / 40 as decimal(12, 2))"),
    ("attributes", "MAP<STRING, INT>", "merge_map", {}, "map(concat('k', {r} % 3), {r}, 'z', null)"),
    ("kinds", "ARRAY<STRING>", "collect", {"distinct": "true"}, "array(concat('k', {r} % 3), 'k1')"),
    ("odd `name{", "INT", "sum", {}, "{r}"),
]  # fmt: skip


def batch(rng, rows):
    """A SELECT of rows with random keys and values."""
    keys = [(rng.randrange(4), rng.randrange(3)) for _ in range(rows)]
    return drawn_rows(rng, keys, [text for *_, text in COLUMNS])


@pytest.mark.parametrize("seed", seeds(1, 3))
def test_every_function(store, seed):
    rng = random.Random(seed)
    columns = ", ".join(f"{quoted_name(name)} {kind}" for name, kind, *_ in COLUMNS)
    options = {"merge-engine": "aggregation", "bucket": "2", "write-only": "true"}
    for name, _, function, more, _ in COLUMNS:
        options[f"fields.{name}.aggregate-function"] = function
        options |= {f"fields.{name}.{key}": value for key, value in more.items()}
    pairs = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    store.execute(f"CREATE TABLE t (k INT, p INT, {columns}, PRIMARY KEY (k, p) NOT ENFORCED) WITH ({pairs})")
    for number in range(3):
        store.execute(f"INSERT INTO t {batch(rng, 20)}")
        before = by_spark(store)
        assert before == by_arrow(store)
        if number > 0:
            store.execute("ALTER TABLE t COMPACT")
            assert by_spark(store) == by_arrow(store) == before
    check_invariants(store.table("t"))


def test_the_example_of_the_proposal(store):
    """The spelling of the design that brought merge engines to this format."""
    store.execute(
        "CREATE TABLE t (pk STRING PRIMARY KEY NOT ENFORCED, sum_field1 BIGINT, max_field1 BIGINT) WITH"
        " ('merge-engine' = 'aggregation', 'fields.sum_field1.function' = 'sum', 'fields.max_field1.function' = 'max')"
    )
    store.execute("INSERT INTO t VALUES ('pk1', 1, 2)")
    store.execute("INSERT INTO t VALUES ('pk1', 1, 1)")
    assert store.sql("SELECT * FROM t").collect() == [("pk1", 2, 2)]
    assert store.sql("SELECT sum_field1 FROM t WHERE pk = 'pk1'").collect() == [(2,)]
    assert store.sql("SELECT * FROM t WHERE max_field1 = 1").collect() == []


def test_a_filter_sees_what_was_folded(store):
    """No file holds the values that the filters ask for."""
    store.execute(
        "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum', 'bucket' = '1')"
    )
    store.execute("INSERT INTO t VALUES (1, 1), (2, 10)")
    store.execute("INSERT INTO t VALUES (1, 2)")
    assert store.sql("SELECT * FROM t WHERE v = 3").collect() == [(1, 3)]
    assert store.sql("SELECT * FROM t WHERE v < 3").collect() == []
    store.execute(
        "CREATE TABLE p (id INT, a INT, b INT, r STRUCT<`odd {name`: INT>, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'partial-update', 'bucket' = '1')"
    )
    store.execute("INSERT INTO p (id, a) VALUES (1, 1)")
    store.execute("INSERT INTO p (id, b, r) SELECT 1, 2, named_struct('odd {name', 5)")
    assert store.sql("SELECT id, r.* FROM p WHERE a = 1 AND b = 2").collect() == [(1, 5)]


def test_a_created_table_reports_the_rows_it_has(store):
    created = store.execute(
        "CREATE TABLE t (PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum')"
        " AS SELECT * FROM VALUES (1, 1), (1, 2), (2, 3) AS t(id, v)"
    )
    assert (created.message, created.rows_affected) == ("CREATE TABLE 2 rows", 2)
    assert store.execute("INSERT INTO t VALUES (1, 1), (1, 1)").rows_affected == 2


def test_a_column_may_come_with_its_function(store):
    store.execute(
        "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'aggregation', 'fields.default-aggregate-function' = 'sum')"
    )
    store.execute("INSERT INTO t VALUES (1, 1)")
    with pytest.raises(OptionError, match="'sum' does not support STRING"):
        store.execute("ALTER TABLE t ADD COLUMN s STRING")
    store.execute("ALTER TABLE t ADD COLUMN w INT")
    store.execute("INSERT INTO t VALUES (1, 1, 5), (1, 1, 6)")
    assert store.sql("SELECT * FROM t").collect() == [(1, 3, 11)]


def test_wide_decimals_add_up(store):
    store.execute(
        "CREATE TABLE t (id INT, v DECIMAL(38, 18), PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum')"
    )
    store.execute("INSERT INTO t VALUES (1, 2e19BD), (2, 1BD), (2, 1BD)")
    assert [int(r[0]) for r in store.sql("SELECT v FROM t ORDER BY id").collect()] == [2 * 10**19, 2]
    with pytest.raises(ExecutionError, match="sum of column 'v' does not fit"):
        store.execute("INSERT INTO t VALUES (1, 9e19BD), (1, 9e19BD)")


@pytest.mark.cover
@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize(
    ("engine", "inserts", "expected"),
    [
        (
            "partial-update",
            [
                "(id, a) VALUES (1, 10), (2, 20), (1, NULL)",
                "(id, b) VALUES (1, 'x'), (3, 'z')",
                "(id, a) SELECT 3, 30",
            ],
            [(1, 10, "x"), (2, 20, None), (3, 30, "z")],
        ),
        (
            "first-row",
            [
                "SELECT * FROM VALUES (1, 10, 'a'), (1, 11, 'b'), (2, 20, 'c')",
                "VALUES (1, 12, 'd'), (3, 30, 'e')",
                "VALUES (3, 31, 'f')",
            ],
            [(1, 10, "a"), (2, 20, "c"), (3, 30, "e")],
        ),
    ],
)
def test_an_engine_merges_small_and_large_inserts(store, monkeypatch, small, engine, inserts, expected):
    if not small:
        monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    store.execute(
        "CREATE TABLE t (id INT, a INT, b STRING, PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ('merge-engine' = '{engine}', 'bucket' = '2')"
    )
    for one in inserts:
        store.execute(f"INSERT INTO t {one}")
    assert store.sql("SELECT * FROM t ORDER BY id").collect() == expected
    assert store.sql("SELECT * FROM t WHERE id = 3").collect() == expected[2:]
    store.execute("ALTER TABLE t COMPACT")
    assert store.sql("SELECT * FROM t ORDER BY id").collect() == expected


def test_rows_are_replaced_by_overwriting(store):
    store.execute(
        "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum')"
    )
    store.execute("INSERT INTO t VALUES (1, 1), (1, 2)")
    store.execute("INSERT OVERWRITE t VALUES (1, 5)")
    assert store.sql("SELECT * FROM t").collect() == [(1, 5)]
    for statement in (
        "UPDATE t SET v = 1",
        "DELETE FROM t WHERE id = 1",
        "MERGE INTO t USING t s ON t.id = s.id WHEN MATCHED THEN DELETE",
    ):
        with pytest.raises(SqlError, match=r"are not supported with 'merge-engine' = 'aggregation'.*INSERT"):
            store.execute(statement)
    store.execute("DELETE FROM t")
    assert store.sql("SELECT * FROM t").collect() == []


def test_rows_of_a_partial_update_are_updated_and_merged(store):
    """As by Paimon's connector: the changed row is one more update, which leaves out what is null."""
    store.execute(
        "CREATE TABLE t (id INT, a INT, b STRING, PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('merge-engine' = 'partial-update', 'bucket' = '1')"
    )
    store.execute("INSERT INTO t VALUES (1, 10, 'x'), (2, 20, NULL), (3, 30, 'z')")
    assert store.execute("UPDATE t SET a = a + 1, b = coalesce(b, 'new') WHERE id < 3").rows_affected == 2
    source = "(SELECT * FROM VALUES (2, 200), (3, 300), (4, 400) AS s(id, a)) s"
    store.execute(
        f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED AND t.a > 25 THEN UPDATE SET a = s.a,"
        " b = nullif(t.b, t.b)"
        " WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a)"
    )
    expected = [(1, 11, "x"), (2, 21, "new"), (3, 300, "z"), (4, 400, None)]
    assert store.sql("SELECT * FROM t ORDER BY id").collect() == expected
    with pytest.raises(SqlError, match=r"MERGE cannot remove rows .*'partial-update'.*remove-record-on-delete"):
        store.execute(f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN DELETE")
    with pytest.raises(SqlError, match=r"DELETE is not supported with 'merge-engine' = 'partial-update'"):
        store.execute("DELETE FROM t WHERE id = 1")


_REMOVING = "partial-update.remove-record-on-sequence-group"
_GROUP = {"merge-engine": "partial-update", "fields.v.sequence-group": ""}


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("STRING", {"fields.v.aggregate-function": "sum"}, r"'sum' does not support STRING.*'v'"),
        ("INT", {"fields.v.aggregate-function": "summ"}, "summ"),
        ("INT", {"fields.w.aggregate-function": "sum"}, r"names 'w'.*Did you mean 'v'|There are: id, v"),
        ("INT", {"fields.id.aggregate-function": "sum"}, "part of the key"),
        ("BINARY", {"fields.v.aggregate-function": "max"}, "does not support"),
        (
            "INT",
            {"merge-engine": "deduplicate", "fields.v.aggregate-function": "sum"},
            "needs 'merge-engine'",
        ),
        ("INT", {"sequence.field": "w"}, r"sequence\.field.*'w'"),
        ("INT", {"fields.v.distinct": "true"}, "needs the function listagg or collect"),
        ("STRING", {"merge-engine": "first-row", "fields.v.list-agg-delimiter": ";"}, "needs 'merge-engine'"),
        ("STRING", {"fields.v.aggregate-function": "rbm65"}, "one of sum, "),
        ("STRING", {"fields.v.aggregate-function": "hll_sketch"}, "'hll_sketch' does not support STRING"),
        ("STRING", {"fields.v.aggregate-function": "count"}, "'count' does not support STRING"),
        ("ARRAY<INT>", {"fields.v.aggregate-function": "nested_update"}, "does not support"),
        (
            "ARRAY<STRUCT<a: INT>>",
            {"fields.v.aggregate-function": "nested_update", "fields.v.nested-key": "b"},
            "nested-key' names 'b'.*There are: a",
        ),
        ("MAP<INT, MAP<INT, INT>>", {"fields.v.aggregate-function": "merge_map"}, "does not support"),
        ("INT", {"fields.v.sequence-group": "id"}, "needs 'merge-engine' = 'partial-update'"),
        ("INT", {"merge-engine": "partial-update", "fields.v.sequence-group": "id"}, "part of the key"),
        (
            "INT, w INT",
            {**_GROUP, "fields.v.sequence-group": "id", "fields.default-aggregate-function": "sum"},
            "'w' is in none",
        ),
        ("INT", {"merge-engine": "partial-update", "fields.v.aggregate-function": "sum"}, "a sequence group"),
        ("INT", {"rowkind.field": "v"}, "no column of texts"),
        ("INT", {_REMOVING: "v"}, "needs 'merge-engine' = 'partial-update'"),
        ("INT", {"merge-engine": "partial-update", _REMOVING: "v"}, "orders no sequence group.*Make one"),
        ("INT", {**_GROUP, _REMOVING: "w"}, "names 'w', which orders no sequence group.*Columns that do: v"),
        ("INT", {**_GROUP, _REMOVING: "v", "ignore-delete": "true"}, "is not supported with 'ignore-delete'"),
        ("INT, w INT NOT NULL", {**_GROUP, _REMOVING: "v"}, "Column 'w' is NOT NULL"),
        (
            "INT",
            {"aggregation.remove-record-on-delete": "true", "merge-engine": "first-row"},
            "'aggregation'",
        ),
        (
            "ARRAY<ARRAY<INT>>",
            {"fields.v.aggregate-function": "collect", "fields.v.distinct": "true"},
            "single values",
        ),
    ],
)
def test_mistakes_are_reported_when_the_table_is_created(store, kind, options, words):
    pairs = ", ".join(f"'{k}' = '{v}'" for k, v in {"merge-engine": "aggregation", **options}.items())
    with pytest.raises(OptionError, match=words):
        store.execute(f"CREATE TABLE t (id INT, v {kind}, PRIMARY KEY (id) NOT ENFORCED) WITH ({pairs})")
    assert store.sql("SHOW TABLES").collect() == []


def test_an_engine_needs_a_key(store):
    with pytest.raises(OptionError, match="needs a primary key"):
        store.execute("CREATE TABLE t (id INT) WITH ('merge-engine' = 'first-row')")
