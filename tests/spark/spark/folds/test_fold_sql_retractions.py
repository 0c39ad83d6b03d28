"""Retractions and sequence groups through SQL: what Spark folds at read time is what Arrow folds when it compacts."""

from __future__ import annotations

import random

import pytest
from support.drawn_rows import drawn_rows
from support.invariants import check_invariants
from support.spark_rows import by_arrow, by_spark

from tablestore_engine.errors import RowKindError, SqlError
from tablestore_engine.schema.types.sql_literals import quoted_name

pytestmark = pytest.mark.spark

# (column, type, options of the column, SQL of a value for the random number {r} from 0 to 99)
RETRACTABLE = [
    ("total", "INT", {"aggregate-function": "sum"}, "cast({r} - 50 as int)"),
    ("small", "TINYINT", {"aggregate-function": "sum"}, "cast({r} % 5 as tinyint)"),
    ("money", "DECIMAL(12, 2)", {"aggregate-function": "sum"}, "cast({r} / 8 as decimal(12, 2))"),
    ("counted", "BIGINT", {"aggregate-function": "count"}, "{r}"),
    ("power", "BIGINT", {"aggregate-function": "product"}, "if({r} % 2 = 0, 2, -1)"),
    ("factor", "DECIMAL(12, 2)", {"aggregate-function": "product"}, "cast(({r} + 20) / 40 as decimal(12, 2))"),
    ("said", "STRING", {"aggregate-function": "last_value"}, "concat('s', {r})"),
    ("heard", "STRING", {}, "concat('h', {r})"),
    ("odd `name{", "ARRAY<INT>", {"aggregate-function": "collect"}, "array({r} % 3, null, {r} % 2)"),
    ("once", "ARRAY<STRING>", {"aggregate-function": "collect", "distinct": "true"}, "array(concat('k', {r} % 3), 'k1')"),  # noqa: E501
    ("attributes", "MAP<STRING, INT>", {"aggregate-function": "merge_map"}, "map(concat('k', {r} % 3), {r})"),
    ("lines", "ARRAY<STRUCT<a: INT, `b c`: STRING>>", {"aggregate-function": "nested_update"},
     "array(named_struct('a', {r} % 2, 'b c', 'x'), null)"),
    ("by_a", "ARRAY<STRUCT<a: INT, `b c`: STRING>>", {"aggregate-function": "nested_update", "nested-key": "a"},
     "array(named_struct('a', {r} % 2, 'b c', concat('x', {r})), named_struct('a', {r} % 3, 'b c', 'y'))"),
    ("in_order", "ARRAY<STRUCT<a: INT, `b c`: STRING>>",
     {"aggregate-function": "nested_update", "nested-key": "a", "nested-sequence-field": "b c"},
     "array(named_struct('a', {r} % 2, 'b c', concat('x', {r})), named_struct('a', null, 'b c', 'y'))"),
    ("kept", "STRING", {"aggregate-function": "primary-key"}, "concat('p', {r})"),
    ("by_time", "MAP<STRING, STRUCT<n: INT, at: STRING>>",
     {"aggregate-function": "merge_map_with_keytime", "ignore-retract": "true"},
     "map(concat('k', {r} % 2), if({r} % 3 = 0, null, named_struct('n', {r}, 'at', concat({r} % 5))))"),
    ("updated", "ARRAY<STRUCT<a: INT, `b c`: STRING>>",
     {"aggregate-function": "nested_partial_update", "nested-key": "a", "ignore-retract": "true"},
     "array(named_struct('a', {r} % 2, 'b c', nullif(concat('x', {r} % 4), 'x1')))"),
    ("most", "INT", {"aggregate-function": "max", "ignore-retract": "true"}, "{r}"),
    ("began", "INT", {"aggregate-function": "first_value", "ignore-retract": "true"}, "{r}"),
    ("ended", "INT", {"aggregate-function": "last_value", "ignore-retract": "true"}, "{r}"),
    ("scale", "DOUBLE", {"aggregate-function": "product", "ignore-retract": "true"}, "if({r} % 2 = 0, 2d, 0.5d)"),
    ("words", "STRING", {"aggregate-function": "listagg", "ignore-retract": "true"}, "concat('w', {r})"),
]  # fmt: skip
GROUPED = [
    ("g", "INT", {"sequence-group": "a,total,most,counted"}, "{r} % 7"),
    ("a", "STRING", {}, "concat('a', {r})"),
    ("total", "INT", {"aggregate-function": "sum"}, "{r}"),
    (
        "most",
        "DATE",
        {"aggregate-function": "max", "ignore-retract": "true"},
        "date_add(DATE'2024-01-01', {r})",
    ),
    ("counted", "BIGINT", {"aggregate-function": "count"}, "{r}"),
    ("h", "INT", {}, "{r} % 2"),
    ("i", "TIMESTAMP", {}, "timestamp_seconds({r} * 1000)"),
    ("tags", "ARRAY<INT>", {}, "array({r})"),
    ("free", "STRING", {}, "concat('f', {r})"),
]


def create(store, columns, options):
    texts = ", ".join(f"{quoted_name(name)} {kind}" for name, kind, *_ in columns)
    options = {"bucket": "2", "write-only": "true", **options}
    for name, _, more, _ in columns:
        options |= {f"fields.{name}.{key}": value for key, value in more.items()}
    pairs = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    store.execute(f"CREATE TABLE t (k INT, p INT, {texts}, PRIMARY KEY (k, p) NOT ENFORCED) WITH ({pairs})")


def batch(rng, columns, kinds, rows=12):
    """An INSERT of random rows of these kinds."""
    leading = [(n, f"'{rng.choice(kinds)}'", rng.randrange(4), rng.randrange(2)) for n in range(rows)]
    names = ", ".join(["_row_kind", "k", "p", *(quoted_name(name) for name, *_ in columns)])
    drawn = drawn_rows(rng, leading, [text for *_, text in columns])
    return f"INSERT INTO t ({names}) SELECT * EXCEPT (c0) FROM ({drawn}) ORDER BY c0"


def play(store, columns, kinds, seed):
    rng = random.Random(seed)
    for number in range(3):
        store.execute(batch(rng, columns, kinds))
        before = by_spark(store)
        assert before == by_arrow(store)
        if number > 0:
            store.execute("ALTER TABLE t COMPACT")
            assert by_spark(store) == by_arrow(store) == before
    check_invariants(store.table("t"))


@pytest.mark.parametrize("removes", [pytest.param("false", marks=pytest.mark.soak), "true"])
def test_retractions_of_every_function(store, removes):
    create(store, RETRACTABLE, {"merge-engine": "aggregation", "aggregation.remove-record-on-delete": removes})
    play(store, RETRACTABLE, ["+I", "+U", "+U", "-U", "-D"], seed=1)


@pytest.mark.parametrize("removing", ["", pytest.param("i", marks=pytest.mark.soak), "g,h"])
def test_sequence_groups(store, removing):
    options = {
        "merge-engine": "partial-update",
        "fields.h,i.sequence-group": "tags",
    }
    if removing:
        options["partial-update.remove-record-on-sequence-group"] = removing
    create(store, GROUPED, options)
    play(store, GROUPED, ["+I", "+U", "-U", "-D"], seed=2)


def test_nested_rows_and_maps_of_a_sequence_group(store):
    """Of the functions that need the order of all records, those that put late ones first."""
    names = ("in_order", "kept", "by_time", "updated", "lines", "began")
    columns = [("g", "INT", {"sequence-group": ",".join(names)}, "{r} % 7")]
    columns += [one for one in RETRACTABLE if one[0] in names]
    create(store, columns, {"merge-engine": "partial-update"})
    rng = random.Random(3)
    for _ in range(3):
        store.execute(batch(rng, columns, ["+I", "+U", "+U", "-U"]))
        assert by_spark(store) == by_arrow(store)


def test_delete_where_a_sequence_group_removes_the_row(sized):
    sized.execute(
        "CREATE TABLE t (id INT, at INT, a STRING, free INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1',"
        " 'merge-engine' = 'partial-update', 'fields.at.sequence-group' = 'a',"
        " 'partial-update.remove-record-on-sequence-group' = 'at')"
    )
    sized.execute("INSERT INTO t VALUES (1, 5, 'x', 1), (2, 5, 'y', 2), (3, 5, 'z', 3), (4, null, null, 4)")
    # Too late, in time, and one after which the row comes back in the same write.
    sized.execute(
        "INSERT INTO t (_row_kind, id, at, a) SELECT kind, id, at, a FROM VALUES (0, '-D', 1, 4, 'x'),"
        " (1, '-D', 2, 5, 'y'), (2, '-D', 3, 6, 'z'), (3, '+I', 3, 7, 'Z') AS s(n, kind, id, at, a) ORDER BY n"
    )
    others = [(3, 7, "Z", None), (4, None, None, 4)]
    assert sized.sql("SELECT * FROM t ORDER BY id").collect() == [(1, 5, "x", 1), *others]
    assert sized.execute("DELETE FROM t WHERE id = 1").rows_affected == 1
    assert sized.table("t").statistics().row_count == 2
    sized.execute("ALTER TABLE t COMPACT")
    # A row begins anew, whatever the sequence of the delete was.
    sized.execute("INSERT INTO t VALUES (1, 3, 'late', 9)")
    assert sized.sql("SELECT * FROM t ORDER BY id").collect() == [(1, 3, "late", 9), *others]
    with pytest.raises(RowKindError, match=r"cannot be deleted.*no sequence in at.*'id': 4"):
        sized.execute("DELETE FROM t WHERE id = 4")
    assert sized.table("t").statistics().row_count == 3
    check_invariants(sized.table("t"))


def test_records_in_the_order_of_columns(store):
    columns = [
        ("at", "INT", {}, "{r} % 5"),
        ("on", "DATE", {}, "date_add(DATE'2024-01-01', {r} % 3)"),
        ("said", "STRING", {"aggregate-function": "last_value"}, "concat('s', {r})"),
        ("total", "INT", {"aggregate-function": "sum"}, "{r}"),
    ]
    options = {"sequence.field": "at,on", "sequence.field.sort-order": "descending"}
    create(store, columns, {"merge-engine": "aggregation", **options})
    play(store, columns, ["+I", "+U", "-U", "-D"], seed=3)


@pytest.fixture(params=["small", "large"])
def sized(store, monkeypatch, request):
    if request.param == "large":
        monkeypatch.setattr("tablestore_engine.spark.write.writer.SMALL_INPUT_BYTES", -1)
    return store


def test_sums_of_a_row_are_retracted(sized):
    sized.execute(
        "CREATE TABLE t (shop STRING, revenue INT, sales INT, note STRING, PRIMARY KEY (shop) NOT ENFORCED) WITH"
        " ('merge-engine' = 'aggregation', 'fields.revenue.function' = 'sum', 'fields.sales.function' = 'count')"
    )
    sized.execute("INSERT INTO t VALUES ('north', 10, 1, 'a'), ('north', 5, 1, 'b'), ('south', 7, 1, 'c')")
    sized.execute(
        "INSERT INTO t (_row_kind, shop, revenue, sales, note) SELECT kind, shop, revenue, 1, note FROM VALUES"
        " (0, '-U', 'north', 5, 'b'), (1, '+U', 'north', 6, 'B'), (2, '-D', 'south', 7, 'c')"
        " AS s(n, kind, shop, revenue, note) ORDER BY n"
    )
    expected = [("north", 16, 2, "B"), ("south", 0, 0, None)]
    assert sized.sql("SELECT * FROM t ORDER BY shop").collect() == expected
    assert sized.sql("SELECT * FROM t WHERE revenue = 0").collect() == expected[1:]
    sized.execute("ALTER TABLE t COMPACT")
    assert sized.sql("SELECT * FROM t ORDER BY shop").collect() == expected


def test_delete_where_a_delete_removes_the_row(store):
    store.execute(
        "CREATE TABLE t (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('merge-engine' = 'aggregation',"
        " 'fields.v.aggregate-function' = 'max', 'aggregation.remove-record-on-delete' = 'true', 'bucket' = '1')"
    )
    store.execute("INSERT INTO t VALUES (1, 10), (2, 20)")
    store.execute("INSERT INTO t VALUES (2, 30)")
    assert store.execute("DELETE FROM t WHERE v = 30").rows_affected == 1
    assert store.sql("SELECT * FROM t").collect() == [(1, 10)]
    store.execute("INSERT INTO t VALUES (2, 5)")
    assert store.sql("SELECT * FROM t ORDER BY id").collect() == [(1, 10), (2, 5)]
    assert store.table("t").statistics().row_count == 2
    with pytest.raises(SqlError, match="UPDATE, DELETE, MERGE and REPLACE WHERE are not supported"):
        store.execute("UPDATE t SET v = 1")
    with pytest.raises(RowKindError, match=r"column 'v' cannot take back.*max.*'id': 1"):
        store.execute("INSERT INTO t (_row_kind, id, v) VALUES ('-U', 1, 1)")


def test_delete_where_deletes_are_left_out(store):
    store.execute("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('ignore-delete' = 'true')")
    store.execute("INSERT INTO t (_row_kind, id) VALUES ('+I', 1), ('-D', 1)")
    assert store.sql("SELECT * FROM t").collect() == [(1,)]
    with pytest.raises(SqlError, match="'ignore-delete'"):
        store.execute("DELETE FROM t WHERE id = 1")


def test_a_column_of_the_table_says_the_kind(sized):
    sized.execute(
        "CREATE TABLE t (id INT, op STRING, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('rowkind.field' = 'op')"
    )
    sized.execute("INSERT INTO t VALUES (1, '+I', 10), (2, '+I', 20)")
    sized.execute("INSERT INTO t VALUES (1, '-D', 10), (2, '+U', 30)")
    assert sized.sql("SELECT * FROM t").collect() == [(2, "+U", 30)]
