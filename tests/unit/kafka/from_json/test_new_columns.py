"""Types of new columns: one that a table can hold, or text."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tablestore_engine.kafka.from_json.new_columns import NewColumns, why_no_column


def nested(levels, wrap):
    value = 1
    for _ in range(levels):
        value = wrap(value)
    return value


@pytest.mark.parametrize("wrap", [lambda value: [value], lambda value: {"a": value}])
def test_values_that_are_nested_too_deep_for_a_file_are_text(wrap):
    """Parquet's readers refuse a column of some 50 lists inside of each other."""
    for levels, is_text in ((16, False), (17, True), (60, True)):
        columns = NewColumns(["id"])
        columns.see_row({"id": 1, "n": nested(levels, wrap)})
        assert (columns.types["n"] == pa.string()) is is_text


@pytest.mark.parametrize("record", [{"": 1}, {" ": 1}, {"a": 1, "A": 2}, {"a": [{"b": {"": 1}}]}, {"\ud800": 1}])
def test_records_with_fields_that_no_table_has_are_text(record):
    columns = NewColumns(["id"])
    columns.see_row({"o": record})
    assert columns.types == {"o": pa.string()}


@pytest.mark.parametrize(
    ("name", "why"), [("a", None), ("ü 😀", None), ("a.b", None), ("_row_id", "reserved"), ("\t", "name")]
)
def test_some_names_are_refused_to_columns(name, why):
    found = why_no_column(name)
    assert found is None if why is None else why in found
