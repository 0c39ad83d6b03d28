"""Computed columns and watermarks in the options of a table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import schema_of

from tablestore_engine.errors import ColumnNotFound
from tablestore_engine.schema.table.computed_columns import (
    ComputedColumn,
    Watermark,
    computed_columns,
    computed_options,
    other_options,
    reader_of,
    watermark_of,
)

COLUMNS = (ComputedColumn(1, "twice", "a * 2", "hi"), ComputedColumn(3, "t", "concat('b', `c`)"))
OPTIONS = computed_options(COLUMNS, Watermark("at", "at - INTERVAL 5 SECONDS"))


def test_they_are_options():
    assert computed_columns({"bucket": "1", **OPTIONS}) == COLUMNS
    assert watermark_of(OPTIONS) == Watermark("at", "at - INTERVAL 5 SECONDS")
    assert other_options({"bucket": "1", **OPTIONS}) == {"bucket": "1"}


@pytest.mark.parametrize(("column", "reader"), [("a", "twice"), ("c", "t AS"), ("at", "WATERMARK"), ("b", None)])
def test_the_reader_of_a_column_is_found(column, reader):
    found = reader_of(OPTIONS, column, ("a", "b", "c", "at"))
    assert (reader in found) if reader else (found is None)


def test_a_value_for_one_is_refused_by_name():
    schema = replace(schema_of({"a": "INT"}), options=OPTIONS)
    with pytest.raises(ColumnNotFound, match=r"'Twice' is computed \(AS a \* 2\)"):
        schema.field("Twice")
