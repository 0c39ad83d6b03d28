"""The functions that an expression calls itself."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.row_level.aggregates import called_functions, merge_expressions


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("max(v) + abs(x)", ["max", "abs"]),
        ("coalesce(`sum`(v), 0)", ["coalesce", "sum"]),
        ("(SELECT max(v) FROM t) + least(a, (TABLE u))", ["least"]),
        ("x IN (SELECT min(y) FROM t)", []),
        ("sum(v) OVER (ORDER BY x)", []),
        ("'max(v)'", []),
        ("count", []),
    ],
)
def test_called_functions(expression, names):
    assert [name for name in called_functions(expression) if name not in ("IN", "OVER")] == names


def test_the_expressions_of_a_merge():
    statement = parse(
        "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED AND s.b > 1 THEN UPDATE SET t.b = s.b"
        " WHEN NOT MATCHED THEN INSERT (a) VALUES (s.a) WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    assert merge_expressions(statement) == [
        ("ON", "t.a = s.a"), ("WHEN", "s.b > 1"), ("SET", "b = s.b"), ("VALUES", "s.a"),
    ]  # fmt: skip
