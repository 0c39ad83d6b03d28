"""A condition guards the expressions after it, also those that occur twice in a query."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

pytestmark = pytest.mark.spark

GUARDED = {
    "quotients": "coalesce(i, 0) > 0 AND n / i > {}",
    "casts": "s RLIKE '^[0-9]+$' AND cast(s AS INT) > {}",
    "elements": "size(l) > 1 AND l[1] > {}",
}


@pytest.mark.parametrize("guarded", GUARDED)
def test_a_condition_guards_expressions_that_occur_twice(store, guarded):
    store.execute(
        "CREATE TABLE t AS SELECT * FROM VALUES (1, 0, 'x', array(1)), (2, NULL, NULL, NULL), (9, 2, '4', array(1, 4)),"
        " (9, 1, '9', array(0, 9)) AS x(n, i, s, l)"
    )
    high, middle = (GUARDED[guarded].format(least) for least in (7, 3))
    query = f"SELECT CASE WHEN {high} THEN 'h' WHEN {middle} THEN 'm' ELSE 'l' END AS level FROM t"
    assert rows(store, query) == [("h",), ("l",), ("l",), ("m",)]
