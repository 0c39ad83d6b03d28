"""Which texts count the rows of one table, and what they say of them."""

from __future__ import annotations

import pytest

from tablestore_engine.metadata.warehouse.view import COMPENSATION, EVOLUTION, View
from tablestore_engine.schema.table.predicate import And, Compare, IsNull
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.sql.counts import count_query as module
from tablestore_engine.sql.counts.count_query import Count, count_query
from tablestore_engine.sql.query.pushdown import Output

COLUMNS = {
    "id": AtomicType("BIGINT"),
    "kind": AtomicType("STRING"),
    "day": AtomicType("DATE"),
    "amount": AtomicType("DOUBLE"),
    "at": AtomicType("TIMESTAMP_LTZ"),
}
GROUPED = {
    "select count(*) f from (select id as unique_field, count(*) as n_records from t where id is not null group by id"
    " having count(*) > 1) q": {"id"},
    "select count(*) f from (with v as (select id, kind from t group by id, kind having count(*) > 1) select * from v)"
    " q": {"id", "kind"},
    "select count(*) f from (select x.id from t x group by x.kind, x.id having count(1) > 3) q where id > 3": {
        "id",
        "kind",
    },
    "with s as (select id as k, kind from t where amount > 3) select count(*) f from (select k, count(*) from s"
    " group by k having count(*) > 1) q": {"id"},
}
FITS = [
    "select count(*) from t",
    "SELECT COUNT(1) AS n FROM db.t WHERE id IS NULL",
    "select count(*) n, count(*) > 10 as many from (select id from t where id is null) q",
    "select count(*) f from (with x as (select * from t where kind = 'a') select id from x where amount > 3) q",
    "with x as (select id as a, kind from t) select count(*) f from x where a is null and kind = 'b'",
    "select count(*) f from (select id from (select * from t where day >= date '2020-01-01') s where id is null) q",
    "select count(*) f from (select id as x from t) q where x is null",
    "select count(*) f from t where id between 1 and 5 or (kind in ('a', 'b', null))",
    "select count(*) f from t x where x.id is null",
    "select count(*) f from (select 1 from t where id is null) q",
    *GROUPED,
]
WRONG = [  # Spark has to say what is wrong, or to compute what only it knows
    "select count(*) f from (select id as x from t where x is null) q",
    "select count(*) f from (select nosuch from t where id is null) q",
    "select count(*) f from (select id as x from t) q where id is null",
    "select count(*) f from t where kind = 3",
    "select count(*) f from t where id = 'a' and id is null",
    "select count(*) f from t where at > date '2020-01-01'",
    "select count(*) f from t where not id is null",
    "select count(*) f from t where ID is null",
    "select count(*) f from t x where t.id is null",
    "select count(*) f from (select length(kind) from t where id is null) q",
    "select count(*) f from (select *, id as x from t where id is null) q",
    "select count(*) f from t where cast(id as string) is null",
    "select count(*) f from (select id as x, kind as X from t) q where x is null",
    "select count(*) from (select count(*) from t)",
    "select count(*) f from (select count(*) as n from t where id > 9000) q",
    "with c as (select count(*) c from t) select count(*) n from c",
    "select count(*) f from (select * from (select count(*) c from t) x) y",
    "select count(*) f from (select count(1) n, nope from t) x",
    "select count(*) f from d.t . x where x.id is null",
    "select /*+ BROADCAST( */ count(*) f from t",
    "select count(*) f from t by where id is null",
    "select count(*) f from t where id is null and",
    "select count(*) f from t where (id is null",
    "select count(*) f from t where id is null or or id is null",
    "select count(*) f from t where id is null is null",
    "select count(*) f from t where id in (1,, 2)",
    "select count(*) f from t where kind is null where id is null",
    "select count(*) f from (select id from t group by kind having count(*) > 1) q",
    "select count(*) f from (select id from t group by nosuch having count(*) > 1) q",
    "select count(*) f from (select id as x from t group by x having count(*) > 1) q",
    "select count(*) f from (select * from t group by id having count(*) > 1) q",
    "select count(*) f from (select id, 1 from t group by id having count(*) > 1) q",
    "select count(*) f from (select id from t group by t.* having count(*) > 1) q",
    "select count(*) f from (select id from t group by u.id having count(*) > 1) q",
    "select count(*) f from (select ID from t group by id having count(*) > 1) q",
    "select count(*) f from (select id, id from t group by id having count(*) > 1) q",
    "select count(*) f from (select id, count(*) n from t group by id having count(*) > 1) q where n > 2",
    "select count(*) f from (select id from t where nosuch = 1 group by id having count(*) > 1) q",
    "select count(*) f from (select k from (select id k from t) s group by id having count(*) > 1) q",
]
TWICE = "(select a from (select a from t group by a having count(*) > 1) q group by a having count(*) > 1)"
OTHERS = [
    f"select count(*) n from {TWICE} q",
    "select id from t",
    "select count(*), count(*) from t",
    "select count(id) from t",
    "select count(*) n, max(id) m from t",
    "select count(*) + 1 as n from t",
    "select count(*) > 1.5 as n from t",
    "select count(*) > 0 from t",
    "select count(distinct id) from t",
    "select count(*) filter (where id is null) from t",
    "select count(*) over () from t",
    "select count(*) n from t group by id",
    "select count(*) n from t order by nosuch",
    "select count(*) n from t limit 1",
    "select count(*) n from t, t u",
    "select count(*) n from t join u on t.id = u.id",
    "select count(*) n from (select id from t where id is null limit 3) q",
    "select count(*) n from (select distinct id from t) q",
    "select count(*) n from (select id from t union all select id from t) q",
    "select count(*) n from (select id from t) q (a)",
    "select count(*) n from t (a)",
    "select count(*) n from t tablesample (10 percent)",
    "select count(*) n from t where id in (select 1)",
    "select count(*) n from t group by id having count(*) > 1",
    "select count(*) n from (select id, count(*) c from t group by id) q",
    "select count(*) n from range(10)",
    "select count(*) n",
    "with u as (select nosuch from v) select count(*) n from t",
    "with u as (select 1 / 0) select count(*) n from t",
    "with recursive r as (select id from t) select count(*) n from r",
    "from t select count(*) n",
    "from t |> where id is null |> aggregate count(*) as n",
    "select count(*) n from t lateral view explode(array(1, 2)) as x",
    "select count(*) n from t where kind = '${kind}'",
    "select count(*) as `${n}` from t",
]


@pytest.mark.parametrize("sql", FITS)
def test_the_rows_of_one_table_are_counted(sql):
    query = count_query(sql)
    assert query is not None
    assert query.fits(COLUMNS)


@pytest.mark.parametrize("sql", WRONG)
def test_a_text_that_spark_has_to_check_does_not_fit(sql):
    query = count_query(sql)
    assert query is None or not query.fits(COLUMNS)


def test_a_condition_of_hundreds_of_levels_does_not_fit():
    query = count_query(f"select count(*) n from t where {'(' * 2_000}id is null{')' * 2_000}")
    assert query is None or not query.fits(COLUMNS)


def test_names_are_followed_once_through_many_selects(monkeypatch):
    """Each view of a chain adds selects that name all of its columns."""
    followed = []
    monkeypatch.setattr(module, "Output", lambda *given: followed.append(given[0]) or Output(*given))
    columns = {f"c{i}": AtomicType("BIGINT") for i in range(50)}
    text = "t"
    for at in range(20):
        text = f"(select {', '.join(columns)} from {text}) q{at}"
    query = count_query(f"select count(*) n from {text} where c7 is null")
    assert query is not None
    assert query.fits(columns)
    assert len(followed) == len(set(map(id, followed))) == 20


@pytest.mark.parametrize("sql", OTHERS)
def test_other_queries_are_left_to_spark(sql):
    assert count_query(sql) is None


@pytest.mark.parametrize("sql", GROUPED)
def test_values_that_several_rows_have_are_counted(sql):
    query = count_query(sql)
    assert query is not None
    assert query.is_grouped
    assert query.repeated(COLUMNS) == GROUPED[sql]


def test_a_test_of_dbt_is_read_with_its_condition():
    query = count_query(
        """select
          count(*) as failures,
          count(*) != 0 as should_warn,
          count(*) >10 as should_error
        from (
          select id
          from (select * from `d`.`t` where kind = 'a') dbt_subquery
          where id is null
        ) dbt_internal_test"""
    )
    assert query is not None
    assert query.counts == (Count("failures"), Count("should_warn", "!=", 0), Count("should_error", ">", 10))
    assert (query.reference.database, query.reference.name, query.filters) == ("d", "t", True)
    assert query.reference.predicate == And((Compare("kind", "=", "a"), IsNull("id")))


def test_a_plain_count_has_the_name_that_spark_gives_it():
    query = count_query("select count(*) from t")
    assert query is not None
    assert (query.counts, query.filters, query.reference.predicate) == ((Count("count(1)"),), False, None)


@pytest.mark.parametrize(
    ("operator", "of_2", "of_3", "of_4"),
    [
        ("=", False, True, False),
        ("==", False, True, False),
        ("!=", True, False, True),
        ("<>", True, False, True),
        ("<", True, False, False),
        ("<=", True, True, False),
        (">", False, False, True),
        (">=", False, True, True),
    ],
)
def test_a_comparison_has_a_truth_value(operator, of_2, of_3, of_4):
    count = Count("n", operator, 3)
    assert (count.type, [count.value(rows) for rows in (2, 3, 4)]) == ("boolean", [of_2, of_3, of_4])
    assert (Count("n").type, Count("n").value(7)) == ("bigint", 7)


def view(sql, *names, mode=EVOLUTION, query_names=None):
    """A view of BIGINTs."""
    columns = tuple(DataField(i, name, AtomicType("BIGINT")) for i, name in enumerate(names))
    return View(sql, "other", columns, query_columns=query_names or names, mode=mode)


@pytest.mark.parametrize(
    "text",
    [
        "select id as key, amount from t",
        "with source as (select * from t), named as (select id as key, amount from source) select * from named -- end",
        "select * from (select amount, id as key from t) x where key is not null",
    ],
)
@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) n from v where key is null",
        "select count(*) n from (select key from db.v x where x.key is null) q",
    ],
)
def test_a_view_is_counted_by_its_text(sql, text):
    query = count_query(sql).through(view(text, "key", "amount"))
    assert query is not None
    assert (query.reference.database, query.reference.name) == ("other", "t")
    assert "IsNull(column='id')" in repr(query.reference.predicate)
    assert query.fits(COLUMNS)
    assert not query.fits({name: kind for name, kind in COLUMNS.items() if name != "amount"})  # the view is broken


@pytest.mark.parametrize(
    ("sql", "read"),
    [
        ("select count(*) n from v", view("select id + 1 as key from t", "key")),
        ("select count(*) n from v where nosuch is null", view("select id as key from t", "key")),
        ("select count(*) n from v", view("select id from t", "key", query_names=("id",))),
        ("select count(*) n from v", view("select id from t", "id", mode=COMPENSATION)),
        ("select count(*) n from v", view("select id from t limit 5", "id")),
        ("select count(*) n from v", view("select max(id) as id from t", "id")),
        ("with t as (select id from v) select count(*) n from t", view("select id from t", "id")),
        ("select count(*) n from d.v", view("select id from t union all select id from t", "id")),
        ("select count(*) n from d.v where d.v.id is null", view("select id from t", "id")),
    ],
)
def test_a_view_that_may_have_other_rows_is_left_to_spark(sql, read):
    query = count_query(sql).through(read)
    assert query is None or not query.fits(COLUMNS)


def test_the_tables_of_a_view_are_those_of_its_database():
    query = count_query("select count(*) n from v").through(view("select id from own.t", "id"))
    assert query is not None
    assert (query.reference.database, query.filters) == ("own", False)
