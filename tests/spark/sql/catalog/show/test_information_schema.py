"""INFORMATION_SCHEMA over the catalog."""

from __future__ import annotations

import pytest
from support.spark_rows import answers

from tablestore_engine.errors import TableNotFound

pytestmark = pytest.mark.spark


@pytest.fixture
def ask(store):
    store.execute("CREATE SCHEMA sales")
    store.execute(
        "CREATE TABLE sales.orders (id BIGINT, price DECIMAL(8, 2) COMMENT 'in euros', PRIMARY KEY (id) NOT ENFORCED)"
    )
    store.execute("CREATE VIEW sales.cheap AS SELECT id FROM sales.orders WHERE price < 5")
    return lambda sql: answers(store, sql)


def test_schemata_tables_and_views_are_listed(ask):
    assert ask("SELECT schema_name FROM information_schema.schemata ORDER BY 1") == [("default",), ("sales",)]
    tables = "SELECT table_name, table_type FROM INFORMATION_SCHEMA.TABLES WHERE table_schema ILIKE 'SALES' ORDER BY 1"
    assert ask(tables) == [("cheap", "VIEW"), ("orders", "BASE TABLE")]
    assert ask("SELECT view_definition FROM information_schema.views") == [
        ("SELECT id FROM sales.orders WHERE price < 5",)
    ]
    columns = "SELECT c.column_name, c.ordinal_position, c.is_nullable, c.data_type, c.comment"
    assert ask(f"{columns} FROM information_schema.columns c WHERE c.table_name = 'orders' ORDER BY 2") == [
        ("id", 1, "NO", "bigint", None),
        ("price", 2, "YES", "decimal(8,2)", "in euros"),
    ]


def test_macros_leave_the_database_in_front_of_the_dot_empty(ask):
    assert ask("select distinct t.table_name from .information_schema.tables t where t.table_type = 'VIEW'") == [
        ("cheap",)
    ]
    assert ask("select count(*) from .sales.orders join .`sales`.cheap using (id)") == [(0,)]


def test_a_view_that_does_not_exist(ask):
    with pytest.raises(TableNotFound, match="There are: schemata, tables, views, columns"):
        ask("SELECT * FROM information_schema.routines")


def test_a_schema_of_that_name_is_its_own(ask, store):
    store.execute("CREATE SCHEMA information_schema")
    store.execute("CREATE TABLE information_schema.tables (x INT)")
    assert ask("SELECT * FROM information_schema.tables") == []
    assert store.sql("SELECT * FROM information_schema.tables").columns == ["x"]
