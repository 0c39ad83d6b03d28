"""What only Spark writes and reads: the distributed writer's files to others, and files of others as DataFrames."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.interop.compare import assert_same
from support.interop.ours import OurTable
from support.interop.readers import EVERY_READER
from support.interop.shapes import ATOMIC, EVERYTHING, value_rows

from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import AtomicType
from tablestore_engine.store import TableStore

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def store(catalog):
    from tablestore_engine.spark.session.session import SessionConfig, start_session

    settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.memory": "1g", "spark.ui.enabled": "false"}
    session = start_session(SessionConfig(master="local[2]", spark_config=settings))
    catalog.create_database("db", if_not_exists=True)
    return TableStore(catalog.warehouse, session, database="db")


@pytest.fixture
def everyone_reads(store, paimon, catalog, all_read):
    """The DataFrame, the engine's own reader and all others find the same rows."""

    def check(name: str) -> pa.Table:
        own = all_read(OurTable(catalog, "db", name))
        # The types of Arrow that Spark hands over say less of nullability than those of the engine do.
        assert_same(store.read(name).toArrow(), own, "Spark")
        return own

    return check


_ROWS = """
    SELECT id, CAST(id % 4 AS INT) AS part, CONCAT('t', id) AS text, CAST(id AS DECIMAL(20, 3)) / 7 AS amount,
           TIMESTAMP '2024-01-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id / 1000) AS moment,
           DATE '2024-02-28' + CAST(id AS INT) AS day, array(id, NULL) AS list, named_struct('x', id, 'y', 'z') AS pair,
           map('k', id) AS tags, CAST(CONCAT('b', id) AS BINARY) AS raw, id % 2 = 0 AS even
    FROM range({0}, {1})
"""


@pytest.mark.parametrize(
    "head",
    [
        "(PRIMARY KEY (id, part) NOT ENFORCED) PARTITIONED BY (part) WITH ('bucket' = '2')",
        "PARTITIONED BY (part)",
    ],
    ids=["keyed", "append"],
)
def test_life_in_sql(store, everyone_reads, catalog, name, head):
    store.execute(f"CREATE TABLE {name} {head} AS {_ROWS.format(0, 400)}")
    assert everyone_reads(name).num_rows == 400
    store.execute(f"INSERT INTO {name} {_ROWS.format(300, 500)}")
    keyed = "PRIMARY" in head
    assert everyone_reads(name).num_rows == (500 if keyed else 600)
    store.execute(f"DELETE FROM {name} WHERE id % 10 = 3")
    store.execute(f"UPDATE {name} SET text = NULL, list = array() WHERE id % 10 = 4")
    everyone_reads(name)
    if keyed:
        store.execute(
            f"MERGE INTO {name} t USING ({_ROWS.format(490, 520)}) s ON t.id = s.id AND t.part = s.part "
            "WHEN MATCHED AND s.even THEN DELETE WHEN MATCHED THEN UPDATE SET text = 'merged' "
            "WHEN NOT MATCHED THEN INSERT *"
        )
        everyone_reads(name)
    store.execute(f"ALTER TABLE {name} ADD COLUMN more STRING")
    store.execute(f"INSERT INTO {name} SELECT *, 'm' FROM ({_ROWS.format(0, 5)})")
    before = everyone_reads(name)
    store.execute(f"ALTER TABLE {name} COMPACT")
    assert_same(everyone_reads(name), before, "after compaction")
    if "PARTITIONED" in head:
        store.execute(f"INSERT OVERWRITE {name} PARTITION (part = 1) SELECT id, text, amount, moment, day, list, pair, "
                      f"tags, raw, even, 'o' FROM ({_ROWS.format(0, 3)})")  # fmt: skip
        everyone_reads(name)
    store.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT 'only' AS text, 1 AS part")
    assert everyone_reads(name).to_pylist() == [{"text": "only", "part": 1}]
    store.execute(f"TRUNCATE TABLE {name}")
    assert everyone_reads(name).num_rows == 0


def test_values_of_every_type(store, everyone_reads, catalog, paimon, name):
    """Their file of every type (without field ids) as a DataFrame, then copied by Spark into a table of ours."""
    samples = {n: s for n, s in EVERYTHING.items() if n not in ("timestamp_0", "char", "varchar")}
    schema = pa.schema([("id", pa.int64()), *((n, to_arrow_type(s.type)) for n, s in samples.items())])
    rows = [{"id": i, **r} for i, r in enumerate(value_rows(60, samples))]
    paimon.create(catalog.warehouse, f"db.{name}", schema, primary_keys=["id"], options={"bucket": "2"})
    given = pa.Table.from_pylist(rows, schema)
    fields = [f.with_nullable(f.name != "id") for f in schema]
    paimon.write(catalog.warehouse, f"db.{name}", given.cast(pa.schema(fields)))
    assert_same(store.read(name).toArrow(), given, "Spark")
    store.execute(
        f"CREATE TABLE {name}_copy (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '3') AS SELECT * FROM {name}"
    )
    copy = everyone_reads(f"{name}_copy")
    assert copy.num_rows == 60
    store.execute(f"INSERT INTO {name} SELECT * FROM {name}_copy WHERE id < 20")
    assert_same(everyone_reads(name), given, "after writing the same again")


KINDS = ("string", "int", "bigint", "smallint", "decimal_compact", "decimal_wide", "date", "timestamp_6", "boolean",
         "double", "bytes", "timestamp_ltz_6")  # fmt: skip


def test_keys_hash_alike_in_spark(store, everyone_reads, catalog, paimon, name):
    """The hash as Spark computes it chooses the buckets that pypaimon chose."""
    columns = {f"k_{kind}": to_arrow_type(ATOMIC[kind].type) for kind in KINDS}
    schema = pa.schema([*columns.items(), ("v", pa.string())])
    rows = [
        {**{f"k_{kind}": ATOMIC[kind].values[i % len(ATOMIC[kind].values)] for kind in KINDS}, "v": "theirs"}
        for i in range(100)
    ]
    rows = list({tuple(r.values()): r for r in rows}.values())
    fields = [f.with_nullable(f.name == "v") for f in schema]
    given = pa.Table.from_pylist(rows, pa.schema(fields))
    paimon.create(catalog.warehouse, f"db.{name}", schema, primary_keys=list(columns), options={"bucket": "11"})
    paimon.write(catalog.warehouse, f"db.{name}", given)
    assert everyone_reads(name).num_rows == len(rows)
    keys = ", ".join(columns)
    store.execute(f"INSERT INTO {name} SELECT {keys}, 'ours' FROM {name}")
    found = everyone_reads(name)
    assert found.num_rows == len(rows)
    assert set(found.column("v").to_pylist()) == {"ours"}


def test_their_partitions_and_runs_as_a_frame(store, everyone_reads, catalog, paimon, name):
    schema = pa.schema([pa.field("day", pa.date32(), False), pa.field("id", pa.int64(), False), ("v", pa.string())])
    days = ATOMIC["date"].values[1:4]
    paimon.create(
        catalog.warehouse, f"db.{name}", schema, primary_keys=["day", "id"], partition_keys=["day"],
        options={"bucket": "2"},
    )  # fmt: skip
    for step in range(3):
        rows = [{"day": days[i % 3], "id": i, "v": f"{step}"} for i in range(step * 5, step * 5 + 30)]
        paimon.write(catalog.warehouse, f"db.{name}", pa.Table.from_pylist(rows, schema))
    assert everyone_reads(name).num_rows == 40
    store.execute(f"DELETE FROM {name} WHERE day = DATE '1970-01-01'")
    store.execute(f"UPDATE {name} SET v = 'ours' WHERE id < 10")
    everyone_reads(name)
    store.execute(f"ALTER TABLE {name} COMPACT")
    everyone_reads(name)


def test_the_past_as_others_see_it(store, paimon, catalog, name):
    store.execute(f"CREATE TABLE {name} (PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2') AS {_ROWS.format(0, 50)}")
    store.execute(f"INSERT INTO {name} {_ROWS.format(40, 60)}")
    store.execute(f"DELETE FROM {name} WHERE id < 10")
    store.execute(f"ALTER TABLE {name} COMPACT")
    for snapshot in catalog.load_table("db", name).snapshots():
        own = store.sql(f"SELECT * FROM {name} VERSION AS OF {snapshot.id}").toArrow()
        for reader in EVERY_READER:
            found = paimon.read(reader, catalog.warehouse, f"db.{name}", snapshot=snapshot.id)
            assert_same(found, own, f"{reader} at {snapshot.id}")


def test_types_that_spark_gives(store, catalog, paimon, name):
    """The types of a CTAS as pypaimon understands them."""
    store.execute(f"CREATE TABLE {name} AS {_ROWS.format(0, 3)}")
    types = dict(paimon.ask(do="schema", warehouse=catalog.warehouse, table=f"db.{name}")["fields"])
    assert types["id"].startswith("BIGINT")
    assert types["part"].startswith("INT")
    assert types["moment"] == "TIMESTAMP(6) WITH LOCAL TIME ZONE"
    assert types["day"].startswith("DATE")
    assert types["raw"].startswith("BYTES")
    assert AtomicType("BYTES") == catalog.load_table("db", name).schema.field("raw").type.as_nullable(True)
