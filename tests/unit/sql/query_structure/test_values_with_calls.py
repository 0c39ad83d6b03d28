"""VALUES that call functions, as SELECTs."""

import pytest

from tablestore_engine.sql.query_structure.values_with_calls import selects_for_values
from tablestore_engine.sql.tokens.lexer import edited


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("VALUES (f(1), 2), (3, g(4, 5))",
         "SELECT * FROM (SELECT f(1) AS col1, 2 AS col2 UNION ALL SELECT 3, g(4, 5))"),
        ("SELECT * FROM VALUES (f(1)) AS v(a)", "SELECT * FROM (SELECT f(1) AS col1) AS v(a)"),
        ("SELECT * FROM VALUES f(1), s.g(2) v", "SELECT * FROM (SELECT f(1) AS col1 UNION ALL SELECT  s.g(2)) v"),
        ("SELECT * FROM (VALUES (1), (f(2))) v",
         "SELECT * FROM (SELECT * FROM (SELECT 1 AS col1 UNION ALL SELECT  f(2))) v"),
        ("SELECT f(1) FROM VALUES (1)", "SELECT f(1) FROM VALUES (1)"),
        ("VALUES (f(1)), 2 + 3", "VALUES (f(1)), 2 + 3"),
    ],
)  # fmt: skip
def test_rows_with_calls_are_selected(text, selected):
    found = edited(text, sorted(selects_for_values(text, [text.index("f(")])))
    assert " ".join(found.split()) == " ".join(selected.split())
