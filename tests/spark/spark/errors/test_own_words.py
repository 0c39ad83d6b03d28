"""What users read of Spark's failures: their own tables and positions in the text, no plans and no temporary views."""

from __future__ import annotations

import re

import pytest

from tablestore_engine.errors import (
    BrokenViewError,
    ExecutionError,
    ParseError,
    SqlError,
    TableNotFound,
    TableStoreError,
)
from tablestore_engine.spark.queries.collect import collect_arrow


@pytest.fixture
def shop(store):
    store.sql("create table t (id int, name string, primary key (id) not enforced)")
    store.sql("insert into t values (1, 'x'), (2, 'y')")
    store.sql("create table s (id int, n bigint)")
    store.sql("insert into s values (1, 5), (2, 6)")
    store.sql("create view v as select id, name from t")
    return store


def failure(store, text: str) -> TableStoreError:
    with pytest.raises(TableStoreError) as caught:
        collect_arrow(store.sql(text))
    return caught.value


QUERIES = [
    ("select nme from t", "nme"),
    ("select s.id,\n  t.nme\nfrom t join s on t.id = s.id", "t.nme"),
    ("select id from t join s on s.id = t.idd", "t.idd"),
    ("with q as (select nme from v) select * from q", "nme"),
    ("select * from t version as of 1 where nme = 1", "nme"),
    ("select * from t where", ""),
    ("create temporary view w as select id, nme from t", "nme"),
]


@pytest.mark.parametrize(("text", "marked"), QUERIES)
def test_positions_in_queries_are_those_of_the_user_s_text(shop, text, marked):
    error = failure(shop, text)
    head, line, mark = str(error).splitlines()[-3:]
    assert head.startswith("== SQL (line ")
    assert line in text
    assert line[mark.index("^") :].startswith(marked)
    assert "#" not in str(error)
    assert "Project" not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "update t set name = nme",
        "delete from t where nme = 1",
        "delete from t where id in (select nme from s)",
        "merge into t using s on t.id = s.idd when matched then delete",
        "merge into t using s on t.id = s.id when matched then update set name = s.nme",
        "select id, count(*) from t",
        "select id from t union all select id, n from s",
    ],
)
def test_no_plans_and_no_text_of_the_engine(shop, text):
    error = failure(shop, text)
    assert type(error) is SqlError
    assert re.match(r"((UPDATE|DELETE FROM|MERGE INTO) default\.t failed: )?\[", str(error))
    assert not [one for one in ("#", "Project", "__tablestore", " pos ", "\n+-") if one in str(error)]


def test_failures_at_run_time_name_tables(shop):
    error = failure(shop, "select * from t where id = (select id from s)")
    assert type(error) is ExecutionError
    assert "More than one row" in str(error)
    assert "(select id from default.s)" in str(error)
    assert "#" not in str(error)
    error = failure(shop, "update t set name = (select name from t)")
    assert "More than one row" in str(error)
    error = failure(shop, "insert into t values ('x', 'x')")
    assert "DataFrame" not in str(error)


def test_the_hint_of_a_broken_view_has_a_line_of_its_own(shop):
    shop.sql("create or replace table t as select 1 as id")
    error = failure(shop, "select * from v")
    assert type(error) is BrokenViewError
    assert str(error).splitlines()[-1].startswith("Create it again")


def test_explain_names_tables(shop):
    plan = collect_arrow(shop.sql("explain extended select t.id from t join v on t.id = v.id")).to_pylist()[0]["plan"]
    assert "[default.t]" in plan
    assert "`default.t`" in plan
    assert ".t#" not in plan


def test_a_time_that_is_none(shop):
    error = failure(shop, "select * from t timestamp as of 'soon'")
    assert type(error) is SqlError
    assert "'soon', of table default." in str(error)


def test_missing_tables_and_bad_syntax_stay_what_they_are(shop):
    assert type(failure(shop, "select * from tt")) is TableNotFound
    assert type(failure(shop, "selct * from t")) is ParseError
