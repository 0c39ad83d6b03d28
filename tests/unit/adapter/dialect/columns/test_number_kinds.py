"""Where the columns of quotients come from."""

import pytest
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

TYPES = {"orders": {"id": "bigint", "qty": "int", "amount": "decimal(10,2)"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("with a as (select qty, count(*) as n from orders group by 1) select n / sum(n) over (), n / qty from a",
         ["n / SUM(n) OVER ()", "n DIV qty"]),
        ("select a / 2 from (select qty as a from orders union all select 3) q", ["a DIV 2"]),
        ("select b / 2 from (select qty as b from orders union all select 1.5) q", ["b / 2"]),
        ("with a as (select * from orders), b as (select a.* from a) select qty / 2, amount / 2 from b",
         ["qty DIV 2", "amount / 2"]),
        ("with a(x, y) as (select amount, id from orders) select x / 2, y / 2 from a", ["x / 2", "y DIV 2"]),
        ("select x / 2, y / 2 from (select 1, 2.5) as t(x, y)", ["x DIV 2", "y / 2"]),
        ("with recursive n(x) as (select 1 union all select x + 1 from n where x < 5) select x / 2 from n",
         ["x DIV 2"]),
        ("select 7 / x, 7 / y from (values (2, 1), (3, 1.5)) t(x, y)", ["7 DIV x", "7 / y"]),
        ("select i / 2 from generate_series(1, 10) as i", ["i DIV 2"]),
        ("select i / 2 from generate_series(1, 10) as g(i)", ["i DIV 2"]),
        ("select o.id / 2, b.n / 2 from orders o join (select id, count(*) as n from orders group by 1) b using (id)",
         ["o.id DIV 2", "b.n DIV 2"]),
        ("select (select max(o.qty / q.n) from orders o) from (select count(*) as n from orders) q",
         ["o.qty DIV q.n"]),
        ("select v / 2 from orders, lateral (select qty as v) l", ["v DIV 2"]),
        ("select p / 2 from (select p / 2 as p from (select qty as p from orders) a) b", ["p DIV 2 AS p", "p DIV 2"]),
        # A name that both have is a column first.
        ("select id as qty, qty / 2, unknown / 2 from orders", ["qty DIV 2", "IF(TYPEOF(unknown)"]),
    ],
)  # fmt: skip
def test_columns_are_followed_to_their_types(text, expected):
    made = one_line(translate(text, "postgres", lambda parts: TYPES.get(parts[-1])))
    made = made.replace("( ", "(").replace(" )", ")")
    assert [one for one in expected if one not in made] == [], made


def test_each_table_is_looked_up_once():
    asked = []

    def columns_of(parts):
        asked.append(tuple(parts))
        return TYPES.get(parts[-1])

    translate(
        "select id / 2, qty / id, o.qty || 'x' from orders o join `s`.`t` on t.a / 2 = o.id", "postgres", columns_of
    )
    assert sorted(asked) == [("orders",), ("s", "t")]
