"""A table whose options mean something that this engine does not do is refused before a file of it is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import OptionError
from tablestore_engine.schema.table_schema import TableSchema
from tablestore_engine.schema.types import AtomicType

COLUMNS = [("id", AtomicType("BIGINT"), None), ("v", AtomicType("INT"), None)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("merge-engine", "of-tomorrow"),
        ("data-evolution.enabled", "true"),
        ("file.format", "orc"),
    ],
)
def test_options_that_change_answers(tmp_path, key, value):
    schema = TableSchema.create(COLUMNS, ["id"], options={"bucket": "1"})
    catalog = Catalog(tmp_path)
    catalog.create_table("default", "t", replace(schema, options={**schema.options, key: value}))
    table = catalog.load_table("default", "t")
    for read in (table.scan, table.to_arrow):
        with pytest.raises(OptionError, match=f"'{key}' = '{value}' is not supported"):
            read()


def test_options_that_do_not(tmp_path):
    schema = TableSchema.create(COLUMNS, ["id"], options={"bucket": "1"})
    catalog = Catalog(tmp_path)
    harmless = {"snapshot.expire.execution-mode": "async", "of-tomorrow": "1", "changelog-producer": "input"}
    catalog.create_table("default", "t", replace(schema, options={**schema.options, **harmless}))
    assert catalog.load_table("default", "t").to_arrow().num_rows == 0
