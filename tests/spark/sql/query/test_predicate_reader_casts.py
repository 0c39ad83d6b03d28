"""Files are left out where a query compares a cast of a column, and never one that holds a row of the answer."""

from __future__ import annotations

import pytest
from support.spark_rows import ids_of

pytestmark = pytest.mark.spark


@pytest.fixture
def table(store):
    """A file for each of the ids 1 to 4; those of `big` do not fit into INT, and `t` are texts."""
    store.execute("CREATE TABLE t (id INT, big BIGINT, d DECIMAL(5, 2), t STRING)")
    for number in range(1, 5):
        store.execute(f"INSERT INTO t VALUES ({number}, {number + 2**33}, {number}.25, '{number}')")
    return store


@pytest.mark.parametrize(
    ("condition", "ids", "files"),
    [
        ("cast(id as int) = 3", [3], 1),
        ("id::bigint >= 3", [3, 4], 2),
        ("2 > try_cast(id as decimal(12, 2))", [1], 1),
        ("cast(d as decimal(10, 4)) between 2 and 3.25", [2, 3], 2),
        ("cast(big as bigint) = 8589934593", [1], 1),
        ("try_cast(big as int) is null", [1, 2, 3, 4], 4),
        ("cast(t as string) in ('1', '4')", [1, 4], 2),
        ("cast(t as int) = 2", [2], 4),
        ("cast(id as string) = '2'", [2], 4),
        ("cast(d as int) = 2", [2], 4),
    ],
)
def test_files_are_left_out_by_casts_that_widen(table, condition, ids, files):
    assert ids_of(table, f"SELECT id FROM t WHERE {condition}") == ids
    assert f"\n{files} of 4 files are read" in table.sql(f"EXPLAIN SELECT id FROM t WHERE {condition}").first()[0]


def test_they_are_left_out_through_views_and_of_changes(table):
    table.execute("CREATE VIEW v AS SELECT id AS number, t FROM t")
    plan = table.sql("EXPLAIN SELECT * FROM v WHERE number::bigint = 2").first()[0]
    assert "\n1 of 4 files are read" in plan
    table.execute("UPDATE t SET t = 'new' WHERE id::bigint = 2")
    table.execute("DELETE FROM t WHERE cast(id as decimal(20, 0)) < 2")
    assert [tuple(row) for row in table.sql("SELECT number, t FROM v ORDER BY 1").collect()] == [
        (2, "new"), (3, "3"), (4, "4"),
    ]  # fmt: skip


def test_an_older_type_of_the_column_is_that_of_its_time(table):
    version = table.table("t").latest_snapshot().id
    table.execute("ALTER TABLE t ALTER COLUMN id TYPE BIGINT")
    table.execute(f"INSERT INTO t VALUES ({2**40}, 1, 1, '5')")
    assert ids_of(table, f"SELECT id FROM t VERSION AS OF {version} WHERE cast(id as int) = 3") == [3]
    assert ids_of(table, f"SELECT id FROM t WHERE cast(id as bigint) >= {2**40}") == [2**40]
