"""What to write instead of other warehouses' words."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.errors.error_hints import DIALECT, error_hint


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        (
            '[DATATYPE_MISSING_SIZE] DataType "VARCHAR" requires a length parameter',
            "Write STRING, which has no length.",
        ),
        ('[UNSUPPORTED_DATATYPE] Unsupported data type "DATETIME". SQLSTATE: 0A000', "Use TIMESTAMP."),
        ('[UNSUPPORTED_DATATYPE] Unsupported data type "INT64". SQLSTATE: 0A000', "Use BIGINT."),
        ('[UNSUPPORTED_DATATYPE] Unsupported data type "NONSENSE". SQLSTATE: 0A000', None),
        (
            "[UNRESOLVED_ROUTINE] Cannot resolve routine `getdate` on search path [`system`]",
            "Write current_timestamp().",
        ),
        (
            "[WRONG_NUM_ARGS.WITHOUT_SUGGESTION] The `to_varchar` requires 2 parameters but the actual number is 1.",
            "Write CAST(value AS STRING), or to_char(value, format).",
        ),
        ("[UNRESOLVED_ROUTINE] Cannot resolve routine `nonsense` on search path [`system`]", None),
        ("[PARSE_SYNTAX_ERROR] Syntax error at or near 'x'.", None),
        ("job failed", None),
    ],
)
def test_by_the_message(message, hint):
    assert error_hint(message, "select 1") == (hint and f"{hint} {DIALECT}")


@pytest.mark.parametrize(
    ("counted", "written"),
    [
        ("id", "write size(collect_set(x) OVER (…))."),
        ("id, n", "write size(collect_set(if(x IS NULL OR y IS NULL, NULL, struct(x, y))) OVER (…))."),
        ("f(id, n)", "write size(collect_set(x) OVER (…))."),
    ],
)
def test_distinct_values_or_rows_of_a_window(counted, written):
    """A row that has a null does not count."""
    message = (
        f'[DISTINCT_WINDOW_FUNCTION_UNSUPPORTED] Not supported: "count(DISTINCT {counted}) OVER (PARTITION BY a, b)"'
    )
    assert f"{written} {DIALECT}" in error_hint(message, "select 1")


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("select top 10 * from t", "LIMIT n at the end"),
        ("select * EXCLUDE (a) from t", "* EXCEPT"),
        ("select SAFE_CAST(a as int64) from t", "TRY_CAST"),
        ("select * from t limit 5, 10", "OFFSET skip"),
    ],
)
def test_by_words_that_never_parse(statement, part):
    assert part in error_hint("[PARSE_SYNTAX_ERROR] Syntax error at or near '('.", statement)
    assert error_hint("[DIVIDE_BY_ZERO] Division by zero.", statement) is None


def test_a_unit_of_time_that_is_read_as_a_column():
    message = (
        "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `month` cannot be"
    )
    assert "date_trunc('MONTH', time)" in error_hint(message, "select date_trunc(d, month) from t")
    assert error_hint(message, "select month from t") is None


@pytest.mark.parametrize(
    ("name", "instead"),
    [("countif", "count_if(condition)"), ("regexp_contains", "regexp_like(text, pattern)"), ("uuid_string", "uuid()")],
)
def test_functions_that_other_warehouses_have(name, instead):
    message = f"[UNRESOLVED_ROUTINE] Cannot resolve routine `{name}` on search path [`system`]"
    assert error_hint(message) == f"Write {instead}. {DIALECT}"
