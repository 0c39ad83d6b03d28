"""The front door, as far as it needs no Spark: making tables and finding them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.tables import no_spark

from tablestore_engine import TableStore
from tablestore_engine.errors import (
    DatabaseNotFound,
    OptionError,
    SchemaError,
    TableAlreadyExists,
    TableNotFound,
    UserError,
)
from tablestore_engine.schema.types.types import AtomicType


@pytest.fixture
def store(tmp_path):
    return TableStore(tmp_path / "warehouse", session_factory=no_spark)


def test_a_table_with_everything(store):
    made = store.create_table(
        "Orders",
        {"day": "date", "id": "bigint", "total": "decimal(10, 2)", "tags": "array<string>"},
        primary_key=["day", "ID"],
        partition_by=["Day"],
        options={"bucket": "2", "target-file-size": "64 mb"},
        comment="what was sold",
    )
    assert made.name == "default.orders"
    schema = store.table("orders").schema
    assert (schema.primary_keys, schema.partition_keys) == (("day", "id"), ("day",))
    assert [str(f.type.as_nullable(True)) for f in schema.fields[:3]] == ["DATE", "BIGINT", "DECIMAL(10, 2)"]
    assert [f.type.nullable for f in schema.fields] == [False, False, True, True]
    assert schema.core_options.target_file_size == 64 << 20
    assert schema.core_options.bucket == 2
    assert schema.comment == "what was sold"
    assert made.latest_snapshot() is None


def test_columns_as_pairs_and_types_as_values(store):
    made = store.create_table("t", [("id", AtomicType("INT")), ("v", "string")])
    assert made.schema.field_names == ("id", "v")
    snapshot = made.write(pa.table({"v": ["a"], "id": pa.array([1], pa.int32())}))
    assert snapshot.id == 1
    assert store.table("default.t").to_arrow().to_pylist() == [{"id": 1, "v": "a"}]


def test_options_of_the_store_are_those_of_its_tables(tmp_path):
    store = TableStore(tmp_path, options={"write-only": "true", "target-file-size": "1 mb"})
    made = store.create_table("t", {"id": "int"}, options={"target-file-size": "2 mb"})
    assert made.schema.core_options.write_only
    assert made.schema.core_options.target_file_size == 2 << 20, "the table's own option wins"
    unchecked = TableStore(tmp_path, options={"constraint.check.positive": "id > 0"})
    with pytest.raises(OptionError, match=r"'constraint\.check\.positive' is a CHECK constraint"):
        unchecked.create_table("u", {"id": "int"})


def test_in_another_database(store):
    store.catalog.create_database("raw")
    assert store.create_table("raw.t", {"id": "int"}).name == "raw.t"
    store.use("RAW")
    assert store.table("t").name == "raw.t"
    assert store.create_table("u", {"id": "int"}).name == "raw.u"


def test_the_catalog_has_several_names(store):
    store.catalog.create_database("raw")
    for name in ("paimon", "spark_catalog"):
        store.execute(f"USE {name}.raw")
        store.execute(f"USE {name}")
        assert store.database == "raw"
    store.execute("CREATE TABLE paimon.raw.t (id INT)")
    assert store.table("t").name == "raw.t"
    store.catalog.create_database("paimon")
    store.execute("USE paimon")
    assert store.database == "paimon"
    with pytest.raises(DatabaseNotFound):
        store.execute("USE elsewhere")


def test_a_table_that_is_there(store):
    first = store.create_table("t", {"id": "int"})
    with pytest.raises(TableAlreadyExists, match="exists already"):
        store.create_table("T", {"other": "string"})
    again = store.create_table("t", {"other": "string"}, if_not_exists=True)
    assert again.schema == first.schema, "the table that is there stays as it is"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"name": "nowhere.t"}, DatabaseNotFound, "nowhere"),
        ({"name": "a/b"}, UserError, "'a/b'"),
        ({"name": ""}, UserError, "''"),
        ({"columns": {}}, SchemaError, "at least one column"),
        ({"columns": {"id": "numbr"}}, UserError, "(?i)numbr"),
        ({"columns": {"id": "decimal(99, 2)"}}, UserError, "99"),
        ({"columns": {"_KEY_id": "int"}}, SchemaError, "reserved"),
        ({"primary_key": ["nothing"]}, SchemaError, "nothing.*not a column"),
        ({"primary_key": ["id", "id"]}, SchemaError, "twice"),
        ({"partition_by": ["nothing"]}, SchemaError, "nothing.*not a column"),
        ({"primary_key": ["id"], "partition_by": ["v"], "options": {"bucket": "2"}}, SchemaError, "must contain"),
        ({"options": {"bukcet": "2"}}, OptionError, "Did you mean 'bucket'"),
        ({"options": {"target-file-size": "big"}}, OptionError, "cannot be 'big'"),
        (
            {"options": {"deletion-vectors.enabled": "true", "changelog-producer": "input"}},
            OptionError,
            "changelog-producer",
        ),
    ],
    ids=str,
)
def test_bad_input_leaves_nothing(store, arguments, error, message):
    given = {"name": "t", "columns": {"id": "int", "v": "string"}, **arguments}
    with pytest.raises(error, match=message):
        store.create_table(**given)
    assert store.catalog.list_tables("default") == []
    with pytest.raises(TableNotFound):
        store.table("t")


def test_one_column_is_a_name_and_options_are_values(store):
    columns = {"day": "date", "v": "int"}
    made = store.create_table("t", columns, primary_key="day", options={"bucket": 2, "write-only": True})
    assert made.schema.primary_keys == ("day",)
    assert (made.options.bucket, made.options.write_only) == (2, True)
    assert store.create_table("u", columns, partition_by="day").schema.partition_keys == ("day",)
    assert store.table("u").to_arrow("day").column_names == ["day"]


@pytest.mark.parametrize(
    "rows",
    [{"id": [1]}, [{"id": 1}], pa.table({"id": [1]}).to_pandas(), 7, [pa.table({"id": [1]})]],
    ids=lambda rows: type(rows).__name__,
)
def test_rows_that_are_no_arrow(store, rows):
    table = store.create_table("t", {"id": "int"})
    with pytest.raises(SchemaError, match=rf"this is a {type(rows).__name__}\. pyarrow creates a table"):
        table.write(rows)
    assert table.latest_snapshot() is None


def test_a_record_batch_is_rows(store):
    table = store.create_table("t", {"id": "bigint"})
    table.write(pa.record_batch({"id": [1, 2]}))
    assert table.to_arrow().to_pydict() == {"id": [1, 2]}


def test_integers_are_decimals_where_they_fit(store):
    table = store.create_table("t", {"d": "decimal(5, 2)", "e": "decimal(38, 30)"})
    table.write(pa.table({"d": [999, None], "e": [-7, 99_999_999]}))
    assert [str(one) for one in table.to_arrow("d").column(0).to_pylist()] == ["999.00", "None"]
    with pytest.raises(SchemaError, match="'d' cannot be written as DECIMAL"):
        table.write(pa.table({"d": [1000], "e": [1]}))
    with pytest.raises(SchemaError, match="'e' cannot be written as DECIMAL"):
        table.write(pa.table({"d": [1], "e": pa.array([2**64 - 1], pa.uint64())}))


@pytest.mark.parametrize("warehouse", ["s3://bucket/wh", "hdfs://host/x", "abfss://a@b/c"])
def test_a_warehouse_that_is_no_local_folder(warehouse):
    with pytest.raises(UserError, match="is not a local folder"):
        TableStore(warehouse)


def test_a_warehouse_by_the_address_of_its_folder(tmp_path):
    assert TableStore(f"file://{tmp_path}").catalog.warehouse == str(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "delete from nope",
        "update nope set id = 1",
        "insert into nope values (1)",
        "merge into nope using nope s on nope.id = s.id when matched then delete",
        "truncate table nope",
    ],
    ids=lambda text: text.split()[0],
)
def test_a_statement_on_a_missing_table_starts_no_spark(store, statement):
    with pytest.raises(TableNotFound, match=r"'default\.nope' does not exist"):
        store.execute(statement)
