"""Intervals as texts: those that PostgreSQL 16 and DuckDB 2 give."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate


@pytest.mark.parametrize(
    ("text", "postgres", "duckdb"),
    [
        ("26 hours", "26:00:00", "26:00:00"),
        ("1 day -2 hours", "1 day -02:00:00", "1 day -02:00:00"),
        ("-1 day 2 hours", "-1 days +02:00:00", "-1 day 02:00:00"),
        ("14 months 3 days 4:05:06.7", "1 year 2 mons 3 days 04:05:06.7", "1 year 2 months 3 days 04:05:06.7"),
        ("-13 months", "-1 years -1 mons", "-1 year -1 month"),
        ("1 week", "7 days", "7 days"),
        ("1.5 hours", "01:30:00", "01:30:00"),
        ("0 seconds", "00:00:00", "00:00:00"),
    ],
)
def test_a_written_interval_has_its_text(text, postgres, duckdb):
    for dialect, expected in (("postgres", postgres), ("duckdb", duckdb)):
        made = one_line(translate(f"select '{text}'::interval::varchar", dialect))
        assert made == f"SELECT CAST('{expected}' AS STRING)"


@pytest.mark.parametrize(
    "text",
    [
        "(a::timestamp - b)::text",
        "'since ' || (now() - a)",
        "concat('since ', at - a)",
        "(at - a)::varchar",
        "(max(at) - min(at))::text",
    ],
)
def test_a_difference_of_times_has_days_and_a_time_of_day(text):
    made = one_line(translate(f"select {text} from t", "postgres", lambda parts: {"at": "timestamp"}))
    assert "AS INTERVAL DAY TO SECOND" in made
    assert "' day'" in made


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "(2 * interval '1 day')::text"),
        ("postgres", "sum(a::timestamp - b)::text"),
        ("postgres", "interval '1.5 days'::text"),
        ("trino", "cast(interval '1' day as varchar)"),
        ("redshift", "(a::timestamp - b)::varchar"),
        ("redshift", "'since ' || (getdate() - a)"),
    ],
)
def test_the_text_of_another_interval_is_refused(dialect, text):
    with pytest.raises(DbtRuntimeError, match="a text of an interval, which is another one in Spark"):
        translate(f"select {text} from t", dialect)


@pytest.mark.parametrize("text", ["(a - b)::text", "(n - 1)::text", "a || b"])
def test_other_differences_are_numbers(text):
    assert "INTERVAL" not in translate(f"select {text} from t", "postgres", lambda parts: {"n": "int"})
