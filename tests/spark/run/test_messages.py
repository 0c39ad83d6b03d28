"""What users read of Spark's failures: their own tables and places, no plans and no stand-ins."""

from __future__ import annotations

import pytest

from tablestore_engine.errors import (
    BrokenViewError,
    ExecutionError,
    ParseError,
    SqlError,
    TableNotFound,
    TableStoreError,
)
from tablestore_engine.spark.run.messages import excerpt, own_words, reason_and_position
from tablestore_engine.spark.run.run import collect_arrow, short_message


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


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("reason. SQLSTATE: 42703; line 1 pos 7;\n'Project ['nme]\n+- Relation", (1, 7)),
        ("reason. SQLSTATE: 42703; line 12 pos 0", (12, 0)),
        ("reason. SQLSTATE: 42703;\nAggregate [id#37]", None),
        ("reason. SQLSTATE: 42703 (line 1, pos 33)\n\n== SQL ==\nselect\n---^^^", (1, 33)),
        ("reason. SQLSTATE: 42703", None),
    ],
)
def test_what_stands_behind_the_reason_is_taken_off(text, position):
    found = reason_and_position(text)
    assert found.reason == "reason. SQLSTATE: 42703"
    assert found.position == position


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("could be: [`a.t#4`.`id`, `a.s#5`.`id`]", "could be: [a.t.`id`, a.s.`id`]"),
        ("from `a.t#13` AS t where", "from a.t where"),
        ("from `a.t#13` AS `T` where", "from a.t where"),
        ("from `a.t#13` AS other", "from a.t AS other"),
        ("from `a.my t#13` AS `my t`", "from `a.my t`"),
        ("FROM `__tablestore_target#58` AS `t`", "FROM `t`"),
        ("select n from `a.t...", "select n from a.t..."),
        ("select n from `a.t#1...", "select n from a.t..."),
        ("one of [`s`.`n`, `__tablestore_in_source`]?", "one of [`s`.`n`]?"),
        ("one of [`__tablestore_in_source`, `s`.`n`, `s`.`__tablestore_x`, `a`]?", "one of [`s`.`n`, `a`]?"),
        ("a column `x#5` of its own", "a column `x#5` of its own"),
    ],
)
def test_stand_ins_are_told_as_tables(text, words):
    assert own_words(text) == words


def test_the_mark_stays_below_its_words():
    text = (
        "Bad. SQLSTATE: 1\n== SQL (line 1, position 40) ==\nfrom `a.t#19` AS t where (select id from `a.s#2` AS s)\n"
        + (" " * 25 + "^" * 29)
    )
    line, mark = own_words(text).splitlines()[-2:]
    assert line == "from a.t where (select id from a.s)"
    assert line[mark.index("^") : len(mark)] == "(select id from a.s)"


def test_frames_of_the_engine_are_not_told_and_others_are():
    found = 'Bad.\n== DataFrame ==\n"cast" was called from\n'
    assert own_words(found + "/lib/tablestore_engine/spark/write/align.py:74") == "Bad."
    assert own_words(found + "/home/me/job.py:3").endswith("job.py:3")


def test_a_place_is_shown_with_its_line():
    assert excerpt("select a,\n  b\nfrom t", 12) == "== SQL (line 2, column 3) ==\n  b\n  ^"
    assert excerpt("select", 6) == "== SQL (line 1, column 7) ==\nselect\n      ^"


def test_the_cause_is_told_when_what_is_above_it_says_nothing():
    text = (
        "An error occurred while calling o1157.getResult.\n: org.apache.spark.SparkException: Exception thrown in"
        " awaitResult: \n\tat a.B.c(B.scala:1)\nCaused by: "
        "org.apache.spark.SparkException: [TOO_MANY] More than one row"
        ".\n== SQL ==\nselect\n\tat a.B.d(B.scala:2)\n\t... 5 more\n"
    )
    assert short_message(text) == "[TOO_MANY] More than one row.\n== SQL ==\nselect"


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
def test_places_in_queries_are_those_of_the_user_s_text(shop, text, marked):
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
    assert str(error).startswith("[")
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


def test_a_broken_view_tells_the_hint_on_a_line_of_its_own(shop):
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
    assert "'soon' is not a time" in str(error)


def test_missing_tables_and_bad_syntax_stay_what_they_are(shop):
    assert type(failure(shop, "select * from tt")) is TableNotFound
    assert type(failure(shop, "selct * from t")) is ParseError
