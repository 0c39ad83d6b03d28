"""The message for a missing table or schema says where it was searched, and what there is."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import DatabaseNotFound, SqlError, TableNotFound

pytestmark = pytest.mark.spark


@pytest.fixture
def shop(store):
    store.execute("CREATE SCHEMA raw")
    store.execute("CREATE TABLE raw.orders AS SELECT 1 AS id")
    store.execute("CREATE TABLE here AS SELECT 1 AS id")
    return store


@pytest.mark.cover
@pytest.mark.parametrize(
    "name",
    ["row.orders", "ROW.orders", "spark_catalog.row.orders", "None.row.orders", ".row.orders", "row.orders$tags"],
)
@pytest.mark.parametrize(
    "query", ["SELECT * FROM {}", "SELECT * FROM here JOIN {} USING (id)", "CREATE TABLE x AS SELECT * FROM {}"]
)
def test_a_schema_that_is_not_there(shop, name, query):
    with pytest.raises(DatabaseNotFound) as caught:
        shop.sql(query.format(name))
    assert caught.value.message.lower().startswith("schema 'row' does not exist in ")
    assert caught.value.hint == "Did you mean 'raw'?"


def test_a_table_that_is_not_there(shop):
    for name in ("raw.order", "None.raw.order"):
        with pytest.raises(TableNotFound, match=r"Table 'raw.order' does not exist. Did you mean 'orders'\?"):
            shop.sql(f"SELECT * FROM {name}")
    with pytest.raises(TableNotFound, match=r"Table 'default.hare' does not exist. Did you mean 'here'\?"):
        shop.sql("SELECT * FROM hare")
    with pytest.raises(TableNotFound, match=r"Table 'default.hare' does not exist. Did you mean 'here'\?"):
        shop.sql("SELECT * FROM hare$tags")
    shop.sql("CREATE TEMPORARY VIEW `of$mine` AS SELECT 3 AS id")
    assert shop.sql("SELECT id FROM `of$mine`").first()[0] == 3


def test_a_table_of_another_schema(shop):
    with pytest.raises(TableNotFound, match=r"Table 'default.orders' does not exist. .*: 'raw.orders'\.$"):
        shop.sql("SELECT * FROM orders")


def test_names_that_only_spark_knows_are_not_called_missing(shop):
    shop.spark.sql("CREATE OR REPLACE GLOBAL TEMPORARY VIEW everywhere AS SELECT 1 AS id")
    assert shop.sql("SELECT * FROM global_temp.everywhere JOIN here USING (id)").count() == 1
    with pytest.raises(TableNotFound, match=r"'default.nowhere' does not exist"):
        shop.sql("SELECT * FROM global_temp.everywhere JOIN nowhere USING (id)")


def test_none_in_front_of_a_name_is_no_database(shop):
    """Macros write `{{ this.database }}.{{ this.schema }}.…`, and there is no database."""
    shop.execute("CREATE TABLE None.raw.copies AS SELECT None.raw.orders.id FROM None.raw.orders")
    shop.execute("INSERT INTO None.raw.copies SELECT id + 1 FROM none.raw.orders")
    shop.execute("UPDATE None.raw.copies SET id = 5 WHERE id IS DISTINCT FROM 1")
    shop.execute(
        "MERGE INTO None.raw.copies USING None.raw.orders AS o ON copies.id = o.id WHEN MATCHED THEN UPDATE SET id = 7"
    )
    assert sorted(row.id for row in shop.sql("SELECT * FROM raw.copies").collect()) == [5, 7]


def test_a_statement_of_another_format_is_judged_by_spark(shop):
    with pytest.raises(SqlError, match=r"OPTIMIZE is not supported: 'default.here' is a managed table"):
        shop.execute("OPTIMIZE here")
    with pytest.raises(SqlError, match="Syntax error"):
        shop.execute("OPTIMIZE elsewhere")
