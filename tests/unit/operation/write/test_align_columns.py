"""Arrow rows whose columns are not those of the table."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.tables import schema_of

from tablestore_engine.errors import SchemaError
from tablestore_engine.operation.write.align_columns import table_rows


@pytest.mark.parametrize("names", [("id", "Id", "v"), ("Id", "ID", "v"), ("v", "id", "id")])
def test_a_column_is_given_once(names):
    given = pa.table([pa.array([1])] * 3, names=list(names))
    several = ", ".join(name for name in names if name != "v")
    with pytest.raises(SchemaError, match=f"several columns for 'id' of the table: {several}. Drop or rename"):
        table_rows(given, schema_of({"id": "INT", "v": "INT"}))


def test_the_spelling_distinguishes_columns_that_differ_in_case_only():
    schema = schema_of({"id": "INT", "Id": "INT"})
    assert table_rows(pa.table({"Id": [1], "id": [2]}), schema).to_pylist() == [{"id": 2, "Id": 1}]
    with pytest.raises(SchemaError, match="unknown column ID"):
        table_rows(pa.table({"Id": [1], "id": [2], "ID": [3]}), schema)
    assert table_rows(pa.table({"ID": [1]}), schema_of({"id": "INT"})).to_pylist() == [{"id": 1}]
