"""How far a table is behind its sources, where some are topics, or dropped."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from support.tables import keyed_arrow, keyed_table, make_table, reload

from dbt.adapters.tablestore.relation.cache_and_catalog import describe
from dbt.adapters.tablestore.relation.lag import lags_of, position_after, shown, source_name, why_lost
from tablestore_engine.catalog import Catalog
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position
from tablestore_engine.operation.kafka_source.source import KafkaSource, consumed
from tablestore_engine.operation.scan.plan_scan import plan_scan
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.table.schema_changes import (
    AddColumn,
    DropColumn,
    RenameColumn,
    RetypeColumn,
    SetNullability,
    SetOption,
)
from tablestore_engine.schema.types.types import parse_type

ORDERS = source_name("default", "orders")
TOPIC = consumed(KafkaSource("orders.v1", "b:9092", cluster="X1"), None, (3, 4))


@pytest.fixture
def model(tmp_path):
    """A table that took one of two commits of `orders`, messages of a topic, and changes of a dropped schema."""
    orders = keyed_table(tmp_path, name="orders")
    for number in range(2):
        orders = reload(orders)
        orders.write(keyed_arrow(number, 1))
    used = Consumed(ORDERS, None, Position.of(reload(orders).snapshot(1)))
    dropped = Consumed(source_name("removed", "t"), None, Position(1))
    model = keyed_table(tmp_path, name="model")
    write_arrow(model.state, keyed_arrow(1), WriteIntent(consumed=(used, TOPIC, dropped)))
    return reload(model)


def test_a_table_synced_from_a_topic_is_described_with_the_lag_behind_its_tables(tmp_path, model):
    catalog = Catalog(tmp_path)
    lag, dropped = lags_of(catalog, model)
    assert (lag.source, lag.consumed, lag.latest) == ("default.orders", 1, 2)
    assert str(dropped) == "removed.t: dropped (its snapshot 1 was the last one used)"
    assert describe(catalog, "default", "model").stats["lag"].startswith("default.orders: 1 commit behind")


def test_topics_and_dropped_schemas_are_not_lost(tmp_path, model):
    catalog = Catalog(tmp_path)
    assert why_lost(catalog, TOPIC.source, TOPIC.after) == ""
    assert why_lost(catalog, source_name("removed", "t"), Position(1)) == ""
    assert why_lost(catalog, ORDERS, Position(9)) == "it was built anew"


def test_a_source_with_a_new_constraint_is_not_lost(tmp_path, model):
    catalog = Catalog(tmp_path)
    catalog.load_table("default", "orders").alter(SetNullability("v", nullable=False))
    lag, _ = lags_of(catalog, model)
    assert (lag.consumed, lag.latest) == (1, 3)
    assert lag.millis is not None


def test_a_source_of_whose_rows_the_values_are_others_is_lost(tmp_path, model):
    """Its column `v` was dropped and added again, with or without a commit since. A position that was reached with the
    new one is not lost, though its snapshot is older."""
    catalog = Catalog(tmp_path)
    orders = catalog.load_table("default", "orders")
    before, reread = (Position.of(orders.snapshot(1), schema) for schema in (None, 2))
    for change in (DropColumn("v"), AddColumn("v", parse_type("INT"))):
        reload(orders).alter(change)
    for _ in range(2):
        assert why_lost(catalog, ORDERS, before).startswith("its column 'v' was dropped")
        assert why_lost(catalog, ORDERS, reread) == ""
        assert why_lost(catalog, ORDERS, before, {"id"}) == ""
        lag, _ = lags_of(catalog, model)
        assert "its column 'v' was dropped" in str(lag)
        assert str(lag).endswith("added under its name: a model that reads it needs --full-refresh")
        reload(orders).write(keyed_arrow(7))


def test_values_that_statistics_know_to_be_the_same_are_not_lost(tmp_path, monkeypatch):
    """A column without values that is replaced, and numbers that fit into a shorter type."""
    columns = {"id": "INT", "v": "BIGINT", "d": "DECIMAL(9, 2)", "nothing": "STRING"}
    table = make_table(tmp_path, columns, ["id"], options={"bucket": "1"}, name="orders")
    kinds = pa.schema([("id", pa.int32()), ("v", pa.int64()), ("d", pa.decimal128(9, 2)), ("nothing", pa.string())])
    rows = [{"id": 1, "v": -40_000, "d": Decimal("99.99")}, {"id": 2, "v": None, "d": None}]
    table.write(pa.Table.from_pylist(rows, kinds))
    table.alter(SetOption("schema.evolution.cast", "explicit-null"))
    position = Position.of(reload(table).latest_snapshot(), reload(table).schema.id)

    plans = []
    monkeypatch.setattr("tablestore_engine.table.plan_scan", lambda *given: plans.append(given) or plan_scan(*given))

    def lost(*changes):
        for one in changes:
            reload(table).alter(one)
        return why_lost(Catalog(tmp_path), ORDERS, position)

    assert lost(DropColumn("nothing"), AddColumn("nothing", parse_type("INT"))) == ""
    plans.clear()
    assert lost(RetypeColumn("v", parse_type("INT")), RetypeColumn("d", parse_type("DECIMAL(5, 2)"))) == ""
    assert len(plans) == 1, "the files are sought once, however many columns changed"
    assert "'d' is DECIMAL(3, 2) and was" in lost(RetypeColumn("d", parse_type("DECIMAL(3, 2)")))
    position = Position.of(reload(table).latest_snapshot(), 0)
    reload(table).alter(DropColumn("d"))
    assert lost() == ""
    assert "'v' is SMALLINT and was INT" in lost(RetypeColumn("v", parse_type("SMALLINT")))
    assert "'v' is SMALLINT" in lost(RetypeColumn("v", parse_type("BIGINT"))), "values of then may have been stored"


def test_a_column_that_was_dropped_before_a_run_and_added_again_after_it(tmp_path, model):
    """The run between did not see the column, but rows of earlier runs may have kept its values."""
    catalog = Catalog(tmp_path)

    def altered(*changes):
        for one in changes:
            catalog.load_table("default", "orders").alter(one)
        orders = catalog.load_table("default", "orders")
        return orders, Position.of(orders.latest_snapshot(), orders.schema.id)

    def ran(before, *changes):
        """The position of a run after some changes of the columns."""
        orders, now = altered(*changes)
        assert why_lost(catalog, ORDERS, before) == ""
        return position_after(orders, before, now)

    position = ran(altered()[1], AddColumn("w", parse_type("INT")))
    position = ran(position, DropColumn("v"), RenameColumn("w", "u"))
    assert (position.schema, position.former) == (3, (1,)), "the schema of before has fewer columns"
    position = ran(position, AddColumn("n", parse_type("INT")), DropColumn("n"))
    position = ran(position, AddColumn("n", parse_type("INT")), AddColumn("w", parse_type("INT")))
    assert position.former == (1,), "columns that no run read, or that have another name, do not count"
    _, built = altered(AddColumn("v", parse_type("INT")))
    assert why_lost(catalog, ORDERS, position).startswith("its column 'v' was dropped or renamed, and is another one")
    assert why_lost(catalog, ORDERS, built) == ""


def test_the_name_of_a_table_is_never_that_of_a_topic():
    name = source_name("kafka:a.b", "T%1")
    assert not name.startswith("kafka:")
    assert (name.count("."), shown(name)) == (1, "kafka:a.b.t%1")
