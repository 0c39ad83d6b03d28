"""Spark's messages without what a user cannot act upon."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.errors.own_words import excerpt, own_words, reason_and_position
from tablestore_engine.spark.errors.translate_errors import short_message


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
def test_text_after_the_reason_is_removed(text, position):
    found = reason_and_position(text)
    assert found.reason == "reason. SQLSTATE: 42703"
    assert found.position == position


def test_the_plan_within_a_reason_is_removed():
    said = "[UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY.UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY] Only in filters"
    found = reason_and_position(
        f"{said}:\n"
        "Join Inner, (k#1 = k#2)\n:- Project [order_id#66]\n+- Relation\nSQLSTATE: 0A000; line 4 pos 28;\n'Project [*]"
    )
    assert found.reason == f"{said}. SQLSTATE: 0A000"
    assert found.position == (4, 28)


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
def test_temp_views_are_shown_as_tables(text, words):
    assert own_words(text) == words


def test_the_mark_stays_below_its_words():
    text = (
        "Bad. SQLSTATE: 1\n== SQL (line 1, position 40) ==\nfrom `a.t#19` AS t where (select id from `a.s#2` AS s)\n"
        + (" " * 25 + "^" * 29)
    )
    line, mark = own_words(text).splitlines()[-2:]
    assert line == "from a.t where (select id from a.s)"
    assert line[mark.index("^") : len(mark)] == "(select id from a.s)"


def test_frames_of_the_engine_and_of_java_are_not_shown_and_others_are():
    found = 'Bad.\n== DataFrame ==\n"cast" was called from\n'
    assert own_words(found + "/lib/tablestore_engine/spark/write/align_columns.py:74") == "Bad."
    assert own_words(found + "java.base/jdk.internal.reflect.NativeMethodAccessorImpl.invoke0(Native Method)") == "Bad."
    assert own_words(found + "/home/me/job.py:3").endswith("job.py:3")


def test_an_excerpt_that_cuts_a_name_of_the_engine_is_not_shown():
    for cut in (
        "SELECT t.id, CAST('x' AS int) AS v, t.__...",
        "...lestore_target#20 AS t WHERE id = 'x'",
        "...tablestore_clause_0 WHEN 0 THEN CAST(CAST('x' AS int) AS int) ELSE CAST(NULL AS int) END AS _...",
        "...e_0 WHEN 0 THEN CAST(CAST('x' AS int) AS int) ELSE CAST(NULL AS int) END, 1",
        "SELECT `t`.`id`, CAST(CAST('x' AS int) AS int) AS `v`, 0 AS ...",
        "SELECT `t`.`id`, CAST('x' || id AS int) AS `v`, `t`.`s`, 0 AS...",
    ):
        assert own_words(f"[CAST_INVALID_INPUT] No number.\n== SQL (line 1, position 15) ==\n{cut}") == (
            "[CAST_INVALID_INPUT] No number."
        )


def test_an_excerpt_of_a_value_that_is_assigned_is_not_shown():
    for cut in (
        "...`.`id`, CAST(coalesce(try_cast((v/0) AS int), CASE WHEN (v/0) IS NO...",
        "...sce(try_cast((named_struct('a', 1/v)).`a` AS int), CASE WH...",
        "SELECT `t`.`id`, CAST((cast('x' as int)) AS int) AS `v`, `t`.`s`, `t...",
        "SELECT transform(array(1/v), given_value -> coalesce(try_...",
    ):
        assert own_words(f"[DIVIDE_BY_ZERO] Division by zero.\n== SQL ==\n{cut}") == (
            "[DIVIDE_BY_ZERO] Division by zero."
        )
    for own in ("select cast((1 / v) as int) as x from t", "select CAST((1 / v) AS int) FROM t"):
        assert own_words(f"[DIVIDE_BY_ZERO] No.\n== SQL ==\n{own}\n").endswith(own)


@pytest.mark.parametrize(
    ("before", "marked", "behind", "shown"),
    [
        ("...`.`id`, CAST(coalesce(try_cast((", "1/q", ") AS int), CASE WHEN (1/q) IS NO...", "1/q"),
        ("SELECT `k`.`id`, ", "CAST((cast(s as int)) AS int)", " AS `q`, `k`.__tablesto...", "cast(s as int)"),
        ("...AND __tablestore_in_source AND (", "1/w.z = 1", ") THEN 0 ELSE CAST(NULL AS I...", "1/w.z = 1"),
        ("...blestore_target#3` AS `k` WHERE ", "1/q=1", "", "1/q=1"),
        ("SELECT ", "1/`__tablestore_value_1`", " AS ...", None),
        ("SELECT ", "CAST(coalesce(try_cast((1/q) AS int), 0)", " AS `q`", None),
    ],
)
def test_of_a_query_of_the_engine_the_user_s_expression_is_shown(before, marked, behind, shown):
    excerpt = f"{before}{marked}{behind}\n{' ' * len(before)}{'^' * len(marked)}"
    words = own_words(f"[DIVIDE_BY_ZERO] Division by zero.\n== SQL (line 1, position 42) ==\n{excerpt}")
    expected = "" if shown is None else f"\n== SQL ==\n{shown}\n{'^' * len(shown)}"
    assert words == "[DIVIDE_BY_ZERO] Division by zero." + expected


def test_a_position_is_shown_with_its_line():
    assert excerpt("select a,\n  b\nfrom t", 12) == "== SQL (line 2, column 3) ==\n  b\n  ^"
    assert excerpt("select", 6) == "== SQL (line 1, column 7) ==\nselect\n      ^"


def test_the_cause_is_shown_when_what_is_above_it_says_nothing():
    text = (
        "An error occurred while calling o1157.getResult.\n: org.apache.spark.SparkException: Exception thrown in"
        " awaitResult: \n\tat a.B.c(B.scala:1)\nCaused by: "
        "org.apache.spark.SparkException: [TOO_MANY] More than one row"
        ".\n== SQL ==\nselect\n\tat a.B.d(B.scala:2)\n\t... 5 more\n"
    )
    assert short_message(text) == "[TOO_MANY] More than one row.\n== SQL ==\nselect"
