"""Which columns of a source a model reads, where their values are others than its earlier rows were computed from."""

from __future__ import annotations

import pytest
from support.tables import keyed_arrow, keyed_table, reload

from dbt.adapters.tablestore.models.changes_since_last_run import ModelChanges
from dbt.adapters.tablestore.relation.lag import source_name
from dbt.adapters.tablestore.relation.relation import TableStoreRelation
from tablestore_engine.catalog import Catalog
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.operation.commit.consumed_positions import Consumed, Position
from tablestore_engine.operation.table_commands.arrow_write import write_arrow
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.table.schema_changes import AddColumn, DropColumn
from tablestore_engine.schema.types.types import parse_type

CHANGES = "(select * from table_changes('`default`.`orders`', 1, 2))"


def relation(name):
    return TableStoreRelation.create(schema="default", identifier=name, type="table")


@pytest.fixture
def model(tmp_path):
    """The changes of a run of a model that goes on from the first commit of `orders`, whose column `v` is another one
    now."""
    orders = keyed_table(tmp_path, name="orders")
    orders.write(keyed_arrow(1, 1))
    position = Position.of(reload(orders).latest_snapshot(), 0)
    used = Consumed(source_name("default", "orders"), None, position)
    write_arrow(keyed_table(tmp_path, name="model").state, keyed_arrow(1, 1), WriteIntent(consumed=(used,)))
    for change in (DropColumn("v"), AddColumn("v", parse_type("INT"))):
        reload(orders).alter(change)
    reload(orders).write(keyed_arrow(2, 2))
    catalog = Catalog(tmp_path)
    catalog.create_view("default", "shown", View("select * from default.orders", "default"))
    run = ModelChanges(catalog)
    run.changes_sql("model", relation("orders"), position)
    return run


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        (f"select id, _row_kind from {CHANGES} where id > 1", False),
        (f"select count(*) as n from {CHANGES}", False),
        (f"with c as (select id from {CHANGES}) select * from c", False),
        (f"with c as (select * from {CHANGES}) select * from c", True),
        (f"select * from {CHANGES}", True),
        (f"select id from {CHANGES} where V > 1", True),
        (f"select c.id from {CHANGES} c join (select * from `default`.`orders` version as of 2) o on o.v = c.id", True),
        (f"select c.id from {CHANGES} c join default.shown s on s.id = c.id", True),
        ("select id from default.model", False),
        (None, True),
    ],
)
def test_a_column_matters_to_queries_that_may_read_it(model, query, reads):
    lost = model.lost_columns("model", relation("model"), query)
    assert ("its column 'v' was dropped" in lost) is reads
    assert model.lost_columns("another", relation("model"), query) == ""
