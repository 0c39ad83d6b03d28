"""The predicate that a query implies for the rows of table ``t``: scenarios."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal

import pytest

from tablestore_engine.schema.table.predicate import (
    And,
    Compare,
    In,
    IsNotNull,
    IsNull,
    OfCast,
    Or,
    Predicate,
    conjunction,
    fixes_a_column,
    rejects_null,
)
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.sql.query.bind import references

A1 = Compare("a", "=", 1)
B2 = Compare("b", "=", 2)
BIGINT = parse_type("BIGINT")


def of_table(query: str, name: str = "t") -> Predicate | None:
    found = [reference.predicate for reference in references(query) if reference.name == name]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a = 1", A1),
        ("a == 1", A1),
        ("a <=> 1", A1),
        ("1 = a", A1),
        ("5 < a", Compare("a", ">", 5)),
        ("a >= -5", Compare("a", ">=", -5)),
        ("`a b` < 1.50", Compare("a b", "<", Decimal("1.50"))),
        ("a = -9999999999999999999999999.99999", Compare("a", "=", Decimal("-9999999999999999999999999.99999"))),
        ("a < -0.00", Compare("a", "<", Decimal("0.00"))),
        ("a < 1e3", Compare("a", "<", 1000.0)),
        ("a = 5L", Compare("a", "=", 5)),
        ("a = true", Compare("a", "=", True)),
        ("a = 'x'", Compare("a", "=", "x")),
        ("a = 'x y'", Compare("a", "=", "x y")),
        ("a = r'x\\y'", Compare("a", "=", "x\\y")),
        # a variable of Spark's may be any text
        ("a = 'x${y}' and b = 2", B2),
        ("a = 1 and ${other}", None),
        ("a = 1 and (b or ${other})", A1),
        ("a > date '2024-01-31'", Compare("a", ">", date(2024, 1, 31))),
        ("a > cast('2024-01-31' as date)", Compare("a", ">", date(2024, 1, 31))),
        ("a > '2024-01-31'::date", Compare("a", ">", date(2024, 1, 31))),
        ("a > to_date('2024-01-31')", Compare("a", ">", date(2024, 1, 31))),
        (
            "a > timestamp '2024-01-31 10:20:30.5'",
            Compare("a", ">", datetime(2024, 1, 31, 10, 20, 30, 500000)),
        ),
        (
            "a > timestamp '2024-01-31T10:20:30Z'",
            Compare("a", ">", datetime(2024, 1, 31, 10, 20, 30, tzinfo=timezone.utc)),
        ),
        ("a > cast('2024-01-31' as timestamp)", Compare("a", ">", datetime(2024, 1, 31))),
        ("a in (1, 2, null)", In("a", (1, 2))),
        ("a in ('x')", In("a", ("x",))),
        ("a between 1 and 3", And((Compare("a", ">=", 1), Compare("a", "<=", 3)))),
        ("a is null", IsNull("a")),
        ("a <=> null", IsNull("a")),
        ("a is not null", IsNotNull("a")),
        ("a = 1 and b = 2", And((A1, B2))),
        ("a between 1 and 3 and b = 2", And((Compare("a", ">=", 1), Compare("a", "<=", 3), B2))),
        ("a = 1 or b = 2", Or((A1, B2))),
        ("(a = 1 or b = 2) and c = 3", And((Or((A1, B2)), Compare("c", "=", 3)))),
        ("a = 1 and f(b) > 2", A1),
        ("a = 1 and a = 1", A1),
        ("(((a = 1)))", A1),
        ("(a = 1 and x) or (b = 2 and y)", Or((A1, B2))),
        ("t.a = 1", A1),
        ("db.t.a = 1", A1),
        ("cast(a as bigint) = 1", OfCast(A1, BIGINT)),
        ("try_cast(t.a as bigint) = 1", OfCast(A1, BIGINT)),
        ("a::bigint = 1", OfCast(A1, BIGINT)),
        ("1 = a::bigint and b = 2", And((OfCast(A1, BIGINT), B2))),
        ("5 < cast(a as decimal(10, 2))", OfCast(Compare("a", ">", 5), parse_type("DECIMAL(10, 2)"))),
        ("a::bigint in (1, 2)", OfCast(In("a", (1, 2)), BIGINT)),
        ("a::bigint is null", OfCast(IsNull("a"), BIGINT)),
        (
            "cast(a as bigint) between 1 and 3",
            And((OfCast(Compare("a", ">=", 1), BIGINT), OfCast(Compare("a", "<=", 3), BIGINT))),
        ),
        # no predicate follows
        ("cast(a as interval day) = 1", None),
        ("cast(a + 1 as bigint) = 1", None),
        ("cast(a as bigint) + 1 = 2", None),
        ("a::bigint::int = 1", None),
        ("not a::bigint = 1", None),
        ("cast(a as bigint)", None),
        ("a = 1 or f(b)", None),
        ("not a = 1", None),
        ("not (a = 1 and b = 2)", None),
        ("! (a = 1)", None),
        ("a <> 1", None),
        ("a != 1", None),
        ("a not in (1)", None),
        ("a not between 1 and 2", None),
        ("a = null", None),
        ("a in (null)", None),
        ("a in (1, b)", None),
        ("a in (select 1)", None),
        ("a = b", None),
        ("a + 1 = 2", None),
        ("a = 1 + 1", None),
        ("a = 1 is null", None),
        ("a = 1 = b", None),
        ("coalesce(a, 1) = 1", None),
        ("case when a = 1 then b = 2 else c = 3 end", None),
        ("a.b.c.d = 1", None),
        ("s.field = 1", None),
        (r"a = 'it\'s'", None),
        ("a = 'it''s'", None),
        ("a = 'x' 'y'", None),
        ('a = "x"', None),
        ("a = date '2024-1-3'", None),
        ("a = date '2024-13-01'", None),
        ("a = timestamp_ntz '2024-01-01 00:00:00Z'", None),
        ("a = current_date", None),
        ("current_date = '2024-01-01'", None),
        ("a = 1F", None),
        ("a like 'x%'", None),
        ("a", None),
        ("end > 5 or a = 1", None),
        ("a = 1 and end > 5 or b = 2", None),
    ],
)
def test_conditions(condition: str, expected: Predicate | None) -> None:
    assert of_table(f"select * from db.t where {condition}") == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # the owner of an unqualified column is known only if there is one relation
        ("select * from t x where a = 1", A1),
        ("select * from t join u on true where a = 1", None),
        ("select * from t join u on true where t.a = 1", A1),
        ("select * from t x join t2 on true where t.a = 1", None),
        ("select * from t, u t2 where t.a = 1", A1),
        # ON and WHERE with joins
        ("select * from t join u on t.a = 1 and u.b = 3", A1),
        ("select * from u join t on t.a = 1", A1),
        ("select * from t left join u on t.a = 1", None),
        ("select * from u left join t on t.a = 1", A1),
        ("select * from u left join t on t.a is null", IsNull("a")),
        ("select * from u left join t on true where t.a is null", None),
        ("select * from u left join t on true where t.a is null or t.a = 1", None),
        ("select * from u left join t on true where t.a = 1", A1),
        ("select * from t left join u on true where t.a is null", IsNull("a")),
        ("select * from t right join u on t.a = 1", A1),
        ("select * from t right join u on true where t.a is null", None),
        ("select * from u right join t on t.a = 1", None),
        ("select * from u right join t on true where t.a is null", IsNull("a")),
        ("select * from t full join u on t.a = 1 where t.b = 2", B2),
        ("select * from t full join u on true where t.a is null", None),
        ("select * from t left semi join u on t.a = 1 and u.b = 3", A1),
        ("select * from u left semi join t on t.a = 1", A1),
        ("select * from t left anti join u on t.a = 1", None),
        ("select * from u left anti join t on t.a = 1", A1),
        ("select * from x left join t on true join u on t.a is null", None),
        ("select * from x left join t on true join u on t.a = 1", A1),
        ("select * from x join t on true left join u on t.a = 1", None),
        ("select * from (t join u on true) where t.a = 1", None),
        # through subqueries
        ("select * from (select * from t) where a = 1", A1),
        ("select * from (select * from t) x where x.a = 1", A1),
        ("select * from (select a as k, b from t) where k = 1", A1),
        ("select * from (select t.a k from t join u on true) where k = 1", A1),
        ("select * from (select k from t join u on true) where k = 1", None),
        ("select * from (select t.*, u.k from t join u on true) where a = 1", A1),
        ("select * from (select * from t join u on true) where a = 1", None),
        ("select * from (select distinct a from t) where a = 1", A1),
        ("select * from (select a + 1 as a from t) where a = 1", None),
        ("select * from (select *, f(b) as a from t) where a = 1", None),
        ("select * from (select * except (a), b as a from t) where a = 2", Compare("b", "=", 2)),
        ("select * from (select * except (a), inline(x) from t) where a = 2", None),
        ("select * from (select a, count(*) from t group by a) where a = 1", None),
        ("select * from (select a, row_number() over (order by b) from t) where a = 1", None),
        ("select * from (select a from t limit 5) where a = 1", None),
        ("select * from (select a from t union all select a from u) where a = 1", None),
        ("select * from (select * from t where b = 2) where a = 1", And((B2, A1))),
        ("select * from (select * from t) x(p, q) where p = 1", None),
        ("select * from (select * from (select a as k from t)) where k = 1", A1),
        ("select * from u left join (select * from t) x on true where x.a is null", None),
        ("select * from u left join (select * from t) x on true where x.a = 1", A1),
        ("select * from (select * from u left join t on true) where a is null", None),
        ("select * from (select t.a from u left join t on true) where a is null", None),
        ("select * from (select a from t order by b) where a = 1", A1),
        # through common table expressions
        ("with x as (select * from t) select * from x where a = 1", A1),
        (
            "with x as (select * from t) select * from x where a = 1 union all select * from x where b = 2",
            Or((A1, B2)),
        ),
        ("with x as (select * from t) select * from x where a = 1 union all select * from x", None),
        (
            "with x as (select * from t), y as (select * from x where b = 2) select * from y where a = 1",
            And((B2, A1)),
        ),
        ("with x(p) as (select a from t) select * from x where p = 1", None),
        ("with recursive x as (select a from t union all select a from x) select * from x where a = 1", None),
        # other clauses
        ("select * from u where exists (select 1 from t where t.a = 1 and t.b = u.b)", A1),
        ("select (select max(b) from t where a = 1)", A1),
        ("select * from t where a = 1 limit 5", A1),
        ("select a, max(b) from t where a = 1 group by a having max(b) = 2", A1),
        ("select * from t where a = 1 qualify row_number() over (order by b) = 1", A1),
        ("select * from t lateral view explode(x) e as y where a = 1", A1),
        ("select * from t where a = 1 union all select * from u where a = 2", A1),
        ("from t select * where a = 1", A1),
        ("from t select x where a = 1 select y where b = 2", None),
        ("select * from t tablesample (5 rows) where a = 1", None),
        ("select * from t as x(p) where p = 1", None),
        ("select * from t pivot (sum(a) for b in (1)) where a = 1", None),
        ("from t |> limit 5 |> where a = 1", None),
        ("table t", None),
        ("select * from t version as of 3 where a = 1", A1),
    ],
)
def test_queries(query: str, expected: Predicate | None) -> None:
    assert of_table(query) == expected


def test_equal_constants_of_different_types_are_kept_apart() -> None:
    assert conjunction([Compare("a", "=", 1), Compare("a", "=", True)]) == And(
        (Compare("a", "=", 1), Compare("a", "=", True))
    )


def test_rejecting_nulls() -> None:
    assert rejects_null(And((IsNull("a"), A1)))
    assert not rejects_null(Or((IsNull("a"), A1)))
    assert rejects_null(Or((IsNotNull("b"), A1)))


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (None, False),
        (A1, True),
        (In("a", (1, 2)), True),
        (Compare("a", "<", 1), False),
        (IsNull("a"), False),
        (And((Compare("b", "<", 9), A1)), True),
        (Or((B2, A1)), True),
        (Or((A1, Compare("b", "<", 9))), False),
        # A constant partition column implies no predicate on other columns.
        (Compare("P", "=", "x"), False),
        (And((In("p", ("x",)), B2)), True),
    ],
)
def test_a_predicate_that_fixes_a_column_asks_for_few_rows(predicate: Predicate | None, expected: bool):
    assert fixes_a_column(predicate, str.lower, apart_from=("p",)) == expected
