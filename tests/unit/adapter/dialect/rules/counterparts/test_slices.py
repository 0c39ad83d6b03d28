"""Slices of lists and texts; the values are in tests/functional."""

from __future__ import annotations

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("postgres", "a[2:3]", "SLICE(a, 2, 2)"),
        ("postgres", "a[2:]", "SLICE(a, 2, SIZE(a))"),
        ("postgres", "a[:n + 1]", "SLICE(a, CAST(1 AS INT), CAST(GREATEST((n + 1) - 1 + 1, 0) AS INT))"),
        ("postgres", "a[:t.n]", "GREATEST((t.n) - 1 + 1, 0)"),
        ("postgres", "(a[1:2])[1]", "GET((SLICE(a, 1, 2)), 0)"),
        ("duckdb", "(a || 'x')[2:3]", "SUBSTRING((a || 'x'), 2, 2)"),
        ("postgres", "a[-1:2]", "SLICE(a, 1, 2)"),
        ("duckdb", "upper(a::text)[2:3]", "SUBSTRING(UPPER(CAST(a AS STRING)), 2, 2)"),
        ("duckdb", "upper(a)[:-2]", "SUBSTRING(UPPER(a), 1, LENGTH(UPPER(a)) - 1)"),
        ("duckdb", "string_split(a, ',')[2:]", "SLICE(SPLIT(a, CONCAT('\\\\Q', ',', '\\\\E')), 2, SIZE("),
    ],
)
def test_a_slice_of_a_known_type(dialect, text, expected):
    made = one_line(translate(f"select {text} from t", dialect)).replace("( ", "(").replace(" )", ")")
    assert expected in made


@pytest.mark.parametrize(("kind", "expected"), [("array<int>", "SLICE(l, 2, 2)"), ("string", "SUBSTRING(l, 2, 2)")])
def test_the_column_of_a_table_has_the_type_of_the_table(kind, expected):
    made = one_line(translate("select l[2:3] from s.t", "duckdb", lambda parts: {"l": kind}))
    assert expected in made
    with pytest.raises(DbtRuntimeError, match="whose type is not in the text"):
        translate("select l[2:3] from s.t", "duckdb", lambda parts: {"l": "int"})


@pytest.mark.parametrize(
    ("dialect", "text", "reason"),
    [
        ("postgres", "a[1:2][1]", "several dimensions"),
        ("postgres", "a[1][1:2]", "several dimensions"),
        ("duckdb", "(a || [1])[1:2]", "whose type is not in the text"),
    ],
)
def test_a_slice_with_another_meaning_is_refused(dialect, text, reason):
    with pytest.raises(DbtRuntimeError, match=reason):
        translate(f"select {text} from t", dialect)
