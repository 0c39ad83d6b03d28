"""Which types of values INSERT, UPDATE, MERGE and DataFrames may assign: as Spark's own table does, but for dates that
are written as texts."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import SchemaError, TableStoreError
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.spark.expressions.spark_types import from_spark_type
from tablestore_engine.spark.write.align_columns import align

VALUES = {
    "boolean": "true", "tinyint": "1Y", "smallint": "1S", "int": "1", "bigint": "1L", "float": "1.5F", "double": "1.5D",
    "decimal(5,2)": "cast(1.25 as decimal(5,2))", "decimal(3,0)": "cast(1 as decimal(3,0))",
    "decimal(20,0)": "cast(7 as decimal(20,0))",
    "string": "'1'", "binary": "x'31'", "date": "date'2024-01-01'", "timestamp": "timestamp'2024-01-01 01:02:03'",
    "timestamp_ntz": "timestamp_ntz'2024-01-01 01:02:03'", "array<int>": "array(1)", "array<string>": "array('1')",
    "map<string,int>": "map('1', 1)", "map<string,string>": "map('1', 'a')", "struct<a:int>": "named_struct('a', 1)",
    "struct<a:string>": "named_struct('a', '1')",
}  # fmt: skip
TIMES = ("date", "timestamp", "timestamp_ntz")


@pytest.fixture
def policy(store):
    def choose(name, ansi="true"):
        store.spark.conf.set("spark.sql.storeAssignmentPolicy", name)
        store.spark.conf.set("spark.sql.ansi.enabled", ansi)

    yield choose
    store.spark.conf.unset("spark.sql.storeAssignmentPolicy")
    store.spark.conf.unset("spark.sql.ansi.enabled")


@pytest.mark.parametrize(
    ("name", "ansi", "some"),
    [
        ("ANSI", "true", slice(None)),
        ("STRICT", "false", slice(0, None, 2)),
        ("LEGACY", "false", slice(1, None, 2)),
        *(pytest.param(one, "false", slice(None), marks=pytest.mark.soak) for one in ("STRICT", "LEGACY")),
    ],
)
def test_types_that_go_together_are_those_of_a_table_of_spark(store, policy, tmp_path, name, ansi, some):
    """Given are values of all types, or of some; each of them is written to columns of all types."""
    policy(name, ansi)
    spark, numbers = store.spark, {kind: number for number, kind in enumerate(VALUES)}
    frames = {kind: spark.sql(f"SELECT {value} AS v") for kind, value in VALUES.items()}
    frames["void"] = spark.sql("SELECT NULL AS v")
    tables = {f"p{number}": f"v {kind}" for kind, number in numbers.items()}
    tables["wide"] = ", ".join(f"c{number} {kind}" for kind, number in numbers.items())
    for table, columns in tables.items():
        spark.sql(f"CREATE TABLE spark_catalog.default.{table} ({columns}) USING parquet LOCATION '{tmp_path}/{table}'")
    schemas = {
        kind: create_schema([("v", from_spark_type(frames[kind].schema["v"].dataType, "v"), None)]) for kind in VALUES
    }

    def accepted(target, values):
        return (
            "Error occurred" not in spark.sql(f"EXPLAIN INSERT INTO spark_catalog.default.{target} {values}").first()[0]
        )

    def aligned(given, wanted):
        try:
            align(frames[given], schemas[wanted])
        except TableStoreError:
            return False
        return True

    try:
        differ = []
        for given, value in [*VALUES.items(), ("void", "NULL")][some]:
            fitting = [wanted for wanted in VALUES if aligned(given, wanted)]
            into_all = ", ".join(f"c{numbers[wanted]}" for wanted in fitting)
            # All columns that take it at once; where Spark has another opinion, and each column that does not, alone.
            if not fitting or accepted(f"wide ({into_all})", f"SELECT {', '.join([value] * len(fitting))}"):
                alone = [wanted for wanted in VALUES if wanted not in fitting]
            else:
                alone = list(VALUES)
            differ += [
                (given, wanted, wanted in fitting)
                for wanted in alone
                if accepted(f"p{numbers[wanted]}", f"SELECT {value} AS v") != (wanted in fitting)
            ]
    finally:
        for table in tables:
            spark.sql(f"DROP TABLE spark_catalog.default.{table}")
    allowed = [("string", time, True) for time in TIMES] if name == "ANSI" else []
    assert differ == allowed


STATEMENTS = [
    "INSERT INTO t SELECT 2, '5', NULL, NULL",
    "INSERT INTO t VALUES (2, 5, array('a'), NULL)",
    "INSERT INTO t (id, l) SELECT 2, named_struct('a', 'x')",
    "UPDATE t SET n = '5'",
    "UPDATE t SET s = array(1)",
    "UPDATE t SET l.a = '5'",
    "UPDATE t SET n = n || '5' WHERE id = 1",
    "MERGE INTO t USING (SELECT 1 AS id, '5' AS n) q ON t.id = q.id WHEN MATCHED THEN UPDATE SET n = q.n",
    "MERGE INTO t USING (SELECT 2 AS k, '5' AS n) q ON t.id = k WHEN NOT MATCHED THEN INSERT (id, n) VALUES (k, q.n)",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_statement_refuses_what_is_cast_under_legacy_only(store, policy, statement):
    policy("ANSI")
    store.execute("CREATE TABLE t (id int, n int, s string, l struct<a:int>, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (1, 7, 'x', named_struct('a', 1))")
    before = store.sql("SELECT * FROM t").collect()
    with pytest.raises(SchemaError, match=r"has the type .*, and is given values of the type") as refused:
        store.execute(statement)
    assert "CAST(" in str(refused.value)
    assert store.sql("SELECT * FROM t").collect() == before
    if "array" not in statement and "'x'" not in statement:
        policy("LEGACY")
        store.execute(statement)
        assert store.sql("SELECT * FROM t").collect() != before


def test_a_frame(store, policy):
    policy("ANSI")
    store.execute("CREATE TABLE t (n int)")
    with pytest.raises(SchemaError, match="Column 'n' has the type int, and is given values of the type string"):
        store.write("t", store.spark.sql("SELECT '5' AS n"))


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_text_that_is_no_date_is_an_error(store, policy, ansi):
    policy("ANSI", ansi)
    store.execute("CREATE TABLE t (d date, at timestamp)")
    store.execute("INSERT INTO t VALUES ('2024-01-31', '2024-01-31 10:00:00')")
    assert store.sql("SELECT year(d), hour(at) FROM t").collect() == [(2024, 10)]
    with pytest.raises(TableStoreError, match=r"Column 'd' \(date\) cannot hold the value '2024-x'\."):
        store.execute("INSERT INTO t SELECT concat('2024-', 'x'), NULL")
    assert store.sql("SELECT count(*) FROM t").first()[0] == 1


BAD = {
    "INSERT INTO t (id, n) VALUES (2, 3000000000)": "'n' (int) cannot hold the value 3000000000",
    "INSERT INTO t (id, m) VALUES (2, 123456.7)": "'m' (decimal(5,2)) cannot hold the value 123456.7",
    "INSERT INTO t (id, d) VALUES (2, 'no day')": "'d' (date) cannot hold the value 'no day'",
    "INSERT INTO t (id, s) VALUES (2, 'long text')": "'s' has the type VARCHAR(4), and a value has 9 characters",
    "INSERT INTO t VALUES (2, 1)": "The query returns 2 columns",
    "INSERT INTO t (n) VALUES (1)": "'id' is NOT NULL, but the query gives no value",
    "UPDATE t SET n = n + 3000000000 WHERE id = 1": "'n' (int) cannot hold the value 3000000007",
    "UPDATE t SET d = concat('no ', 'day')": "'d' (date) cannot hold the value 'no day'",
    """MERGE INTO t USING (SELECT 1 AS id, 3000000000 AS n) q ON t.id = q.id
    WHEN MATCHED THEN UPDATE SET n = q.n""": "'n' (int) cannot hold the value 3000000000",
    """MERGE INTO t USING (SELECT 2 AS id, 'x' AS d) q ON t.id = q.id
    WHEN NOT MATCHED THEN INSERT (id, d) VALUES (q.id, q.d)""": "'d' (date) cannot hold the value 'x'",
}


@pytest.mark.parametrize("name", ["ANSI", "LEGACY"])
def test_a_bad_value_is_one_message_with_table_and_column(store, policy, name):
    policy(name)
    store.execute("CREATE TABLE t (id int, n int, d date, s varchar(4), m decimal(5,2), PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t (id, n) VALUES (1, 7)")
    for statement, message in BAD.items():
        with pytest.raises(SchemaError) as refused:
            store.execute(statement)
        said = str(refused.value)
        assert said.startswith(f"{statement.partition(' t ')[0]} default.t failed: "), said
        assert message in said, (statement, said)
        assert "\n" not in said and "SQLSTATE" not in said and "[" not in said, said
    assert store.sql("SELECT id, n FROM t").collect() == [(1, 7)]


def test_a_number_of_a_wider_type_that_fits(store, policy):
    policy("ANSI")
    store.execute("CREATE TABLE t (id int, n int, PRIMARY KEY (id) NOT ENFORCED)")
    store.execute("INSERT INTO t VALUES (1L, 7L), (2, NULL)")
    store.execute("UPDATE t SET n = n + 1L WHERE id = 1")
    store.execute(
        "MERGE INTO t USING (SELECT 2L AS id, 9L AS n) q ON t.id = q.id WHEN MATCHED THEN UPDATE SET n = q.n * 2L"
    )
    assert sorted(store.sql("SELECT * FROM t").collect()) == [(1, 8), (2, 18)]


def test_a_source_whose_column_is_null_fits_every_column(store, policy):
    policy("ANSI")
    store.execute("CREATE TABLE t (id int, n int, l array<int>, s struct<a:int>)")
    store.execute("INSERT INTO t VALUES (1, 7, array(1), struct(1))")
    merge = "MERGE INTO t USING (SELECT {} AS id, NULL AS w, array(NULL) AS v) q ON t.id = q.id"
    store.execute(merge.format(1) + " WHEN MATCHED THEN UPDATE SET n = q.w, l = v, s.a = w")
    assert store.sql("SELECT * FROM t").collect() == [(1, None, [None], (None,))]
    store.execute(merge.format(2) + " WHEN NOT MATCHED THEN INSERT (id, n, s) VALUES (q.id, w, w)")
    assert store.sql("SELECT n, s FROM t WHERE id = 2").collect() == [(None, None)]


@pytest.mark.parametrize("value", ["1.5", "true", "'x'", "3000000000", "DATE'2024-01-01'"])
def test_a_partition_that_is_no_value_of_its_column(store, policy, value):
    policy("ANSI")
    store.execute("CREATE TABLE t (a int, p int, d date) PARTITIONED BY (p, d)")
    with pytest.raises(SchemaError, match=r"Column 'p' \(int\) cannot hold the value"):
        store.execute(f"INSERT INTO t PARTITION (p = {value}, d = '2024-01-01') SELECT 1")
    with pytest.raises(SchemaError, match=r"Column 'd' \(date\) cannot hold the value 'no'"):
        store.execute("INSERT INTO t PARTITION (p = '5', d = 'no') SELECT 1")
    store.execute("INSERT INTO t PARTITION (p = 5L, d = TIMESTAMP'2024-01-01 10:00:00') SELECT 1")
    assert store.sql("SELECT p, string(d) FROM t").collect() == [(5, "2024-01-01")]


SOME = "if(rand() < 0.5, NULL, 3L)"
ONCE = {
    f"UPDATE t SET n = {SOME}, d = if(rand() < 0.5, NULL, '2024-01-01')": "n",
    f"UPDATE t SET s.a = {SOME}": "s.a",
    f"UPDATE t SET s = struct({SOME}, 1L)": "s.a",
    f"""MERGE INTO t USING (SELECT id + 50 AS id FROM range(100)) q ON t.id = q.id
    WHEN MATCHED THEN UPDATE SET n = {SOME} WHEN NOT MATCHED THEN INSERT (id, n) VALUES (q.id, {SOME})""": "n",
}


@pytest.mark.parametrize("statement", ONCE)
def test_a_random_value_is_evaluated_once(store, policy, statement):
    policy("ANSI")
    store.execute("CREATE TABLE t (id bigint, n int, d date, s struct<a:int, b:int>)")
    store.execute("INSERT INTO t SELECT id, 1, NULL, NULL FROM range(100)")
    store.execute(statement)
    read = store.sql(f"SELECT DISTINCT {ONCE[statement]} FROM t WHERE id >= 50").collect()
    assert set(read) == {(None,), (3,)}
