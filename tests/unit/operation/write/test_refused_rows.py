"""A text that is longer than its column's type is refused, as in Spark; nothing is written."""

from __future__ import annotations

import pyarrow as pa
import pytest
from support.files import data_files
from support.tables import make_table

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.arrow import to_arrow_type


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("kind", ["CHAR(3)", "VARCHAR(3)"])
def test_a_text_that_is_too_long(tmp_path, kind, keyed):
    keys, options = (("id",), {"bucket": "1"}) if keyed else ((), {})
    table = make_table(tmp_path, {"id": "INT", "v": kind, "s": "STRING"}, keys, options=options)

    def write(*texts):
        ids = pa.array(range(len(texts)), pa.int32())
        return table.write(pa.table({"id": ids, "v": list(texts), "s": ["any length"] * len(texts)}))

    write("abc", None, "äöü", "")
    before = data_files(table)
    with pytest.raises(SchemaError) as caught:
        write("ok", "abcd")
    assert f"Column 'v' has the type {kind}, and a value has 4 characters: 'abcd'." in str(caught.value)
    assert data_files(table) == before


NESTED = {
    "type": "ROW",
    "fields": [
        {"id": 0, "name": "c", "type": "CHAR(3)"},
        {"id": 1, "name": "m", "type": {"type": "MAP", "key": "CHAR(2) NOT NULL", "value": "VARCHAR(3)"}},
        {"id": 2, "name": "l", "type": {"type": "ARRAY", "element": "CHAR(3)"}},
    ],
}


def test_texts_inside_of_other_values(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "s": NESTED})
    kind = to_arrow_type(table.schema.field("s").type)

    def write(*values):
        table.write(pa.table({"id": pa.array(range(len(values)), pa.int32()), "s": pa.array(values, kind)}))

    write({"c": "a", "m": [("k", "v")], "l": ["b", None, "c   "]}, None, {"c": None, "m": None, "l": []})
    full = {"c": "a  ", "m": [("k ", "v")], "l": ["b  ", None, "c  "]}
    assert [one["s"] for one in table.to_arrow().to_pylist()] == [full, None, {"c": None, "m": None, "l": []}]
    for value, kind_of_text in (
        ({"c": "abcd", "m": None, "l": None}, r"CHAR\(3\)"),
        ({"c": None, "m": [("k", "abcd")], "l": None}, r"VARCHAR\(3\)"),
        ({"c": None, "m": None, "l": ["a", "abcd"]}, r"CHAR\(3\)"),
    ):
        with pytest.raises(SchemaError, match=rf"Column 's' has the type {kind_of_text} inside.*'abcd'"):
            write(value)
