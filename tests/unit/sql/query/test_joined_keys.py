"""Which tables give the values by which a query joins another one."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query.bind import references

BY_A = [("few", (("a", "x"),))]
BOTH = [("few", (("a", "x"), ("b", "y")))]
JOINS = {
    "select t.v from big t join few s on t.a = s.x and s.y = t.b": BOTH,
    "select t.v from big t join few s on t.b = s.y where t.a = s.x": BOTH,
    "select t.v from big t, few s where t.a = s.x": BY_A,
    "select t.v from few s left join big t on t.a = s.x": BY_A,
    "select t.v from big t right join few s on t.a = s.x": BY_A,
    "select s.x from few s left anti join big t on s.x = t.a": BY_A,
    "select t.v from big t left semi join few s on t.a = s.x": BY_A,
    # Rows that the join keeps without a partner, and those that OR keeps, are all needed.
    "select t.v from big t left join few s on t.a = s.x": [],
    "select t.v from big t left anti join few s on t.a = s.x": [],
    "select t.v from big t full join few s on t.a = s.x": [],
    "select t.v from big t join few s on t.a = s.x or t.b = s.y": [],
    "select t.v from big t join few s on t.a = s.x + 1": [],
    "select t.v from big t join few s on t.a <=> s.x": [],
    "select t.v from big tablesample (10 rows) t join few s on t.a = s.x": [],
    # Values of an output column are at most those of the column that it is copied from.
    "with s as (select x as k from few limit 3) select t.v from s join big t on s.k = t.a": BY_A,
    "select 1 from (select x k, count(*) from few group by x) s join big t on s.k = t.a": BY_A,
    "with s as (select x + 1 as k from few) select t.v from s join big t on s.k = t.a": [],
    "with s as (select x as k from few union all select 1) select t.v from s join big t on s.k = t.a": [],
    "with s(k) as (select x from few) select t.v from s join big t on s.k = t.a": [],
    # Through a query that only filters and projects the large table.
    "with t as (select a as q, v from big where v > 1) select t.v from few s join t on s.x = t.q": BY_A,
    "with t as (select max(a) as q from big group by v) select 1 from few s join t on s.x = t.q": [],
    "with t as (select * from big) select t.v from few s join t on s.x = t.a union all select v from t": [],
    # The columns are of two rows of the table.
    "with s as (select * from few) select 1 from big t join s s1 on t.a = s1.x join s s2 on t.b = s2.y": [
        ("few", (("a", "x"),)),
        ("few", (("b", "y"),)),
    ],
}  # fmt: skip


@pytest.mark.parametrize("query", JOINS)
def test_the_tables_that_a_table_is_joined_with(query):
    (big,) = (one for one in references(query) if one.name == "big")
    assert [(table.name, pairs) for table, pairs in big.joined] == JOINS[query]


def test_names_of_a_query_that_joins():
    def columns(query):
        return next(one.columns for one in references(query) if one.name == "big")

    join = "from big t join few s on t.a = s.x"
    assert columns(f"select T.V, count(*) {join} group by t.`W x`") >= {"v", "a", "x", "w x"}
    assert "b" not in columns(f"select t.v {join}")
    for items in ("*", "t.*", "t.v * 2", "count(distinct *)"):
        assert columns(f"select {items} {join}") is None, "the star may be one of columns"
