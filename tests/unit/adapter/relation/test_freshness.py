"""The newest value of a column, without Spark, or nothing where a query is needed."""

from datetime import date, datetime, timezone

import pytest
from support.tables import make_table, write

from dbt.adapters.tablestore.relation import freshness
from dbt.adapters.tablestore.relation.freshness import Newest, newest
from tablestore_engine.catalog import Catalog, View

UTC = timezone.utc


@pytest.fixture
def catalog(tmp_path):
    catalog = Catalog(tmp_path)
    columns = {"id": "INT", "day": "DATE", "at": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "plain": "TIMESTAMP(6)"}
    table = make_table(catalog, columns, ["id"])
    for i in (5, 3):
        naive = datetime(2024, 1, i, 6, 7, 8)
        write(table, [{"id": i, "day": date(2024, 1, i), "at": naive.replace(tzinfo=UTC), "plain": naive}])
    return catalog


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("day", datetime(2024, 1, 5, tzinfo=UTC)),
        (" `Day` ", datetime(2024, 1, 5, tzinfo=UTC)),
        ("at", datetime(2024, 1, 5, 6, 7, 8, tzinfo=UTC)),
        ("plain", datetime(2024, 1, 5, 6, 7, 8)),
    ],
)
def test_the_newest_value(catalog, field, expected):
    assert newest(catalog, "default", "t", field) == Newest(expected)


@pytest.mark.parametrize("field", ["id", "nowhere", "cast(day as timestamp)", "t.day"])
def test_metadata_cannot_answer_for_these_columns(catalog, field):
    assert newest(catalog, "default", "t", field) is None


def test_views_and_big_tables_are_left_to_a_query(catalog, monkeypatch):
    catalog.create_view("default", "v", View("select * from t", "default"))
    assert newest(catalog, "default", "v", "day") is None
    monkeypatch.setattr(freshness, "MAX_ROWS", 1)
    assert newest(catalog, "default", "t", "day") is None


@pytest.mark.parametrize("rows", [[], [{"id": 1}]], ids=["no rows", "only nulls"])
def test_no_value(tmp_path, rows):
    catalog = Catalog(tmp_path)
    table = make_table(catalog, {"id": "INT", "day": "DATE"}, ["id"])
    if rows:
        write(table, rows)
    assert newest(catalog, "default", "t", "day") == Newest(None)
