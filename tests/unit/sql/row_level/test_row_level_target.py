"""The predicates on the table's rows that follow from conditions of UPDATE, DELETE and MERGE."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.row_level.row_level_target import predicate_on

TABLE = SimpleNamespace(identifier=("Db", "t"))


@pytest.mark.parametrize(
    ("condition", "alias", "alone", "said"),
    [
        ("a = 1", None, True, "a = 1"),
        ("a = 1", None, False, None),
        ("t.a = 1 AND s.b = 2", None, False, "a = 1"),
        ("T.a = 1 AND db.t.b > 2", None, False, "a = 1 AND b > 2"),
        ("other.t.a = 1", None, False, None),
        ("x.a = 1 AND t.b = 2", "x", False, "a = 1"),
        ("`x y`.a = 1", "x y", False, "a = 1"),
        ("t.a = s.a AND t.day = DATE '2024-01-01'", None, False, "day = DATE '2024-01-01'"),
        ("t.a = 1 OR s.a = 2", None, False, None),
        ("t.a = 1 OR t.a = 2", None, False, "a = 1 OR a = 2"),
        ("NOT t.a = 1", None, False, None),
        ("CASE WHEN t.a THEN end AND t.b = 1 AND c END", None, True, None),
        ("t.a IN (SELECT a FROM s WHERE b = 1) AND t.c < 3", None, True, "c < 3"),
        ("when.a = 1 AND when.b = then.b", "when", False, "a = 1"),
        ("(" * 2000 + "a = 1" + ")" * 2000, None, True, None),
    ],
)
def test_the_predicate_of_a_condition_is_found(condition, alias, alone, said):
    expected = said and references(f"SELECT * FROM t WHERE {said}")[0].predicate
    assert repr(predicate_on(TABLE, alias, condition, alone=alone)) == repr(expected)
