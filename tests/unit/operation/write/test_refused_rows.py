"""A text that is longer than its column's type is refused, as in Spark, and so is a null in a field that is NOT NULL;
nothing is written."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from support.files import data_files
from support.tables import compact, make_table, read

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


STRICT = {"type": "ROW", "fields": [{"id": 9, "name": "y", "type": "DOUBLE NOT NULL"}]}
AROUND = {
    "s": STRICT,
    "l": {"type": "ARRAY", "element": STRICT},
    "m": {"type": "MAP", "key": "STRING", "value": STRICT},
}


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("keys", [(), ("id",)])
def test_nulls_around_a_field_that_is_not_null(tmp_path, keys, file_format):
    table = make_table(tmp_path, {"id": "INT", **AROUND}, keys, options={"bucket": "1" if keys else "-1"})
    table = table.with_schema(replace(table.schema, options={**table.schema.options, "file.format": file_format}))
    kinds = pa.schema([(f.name, to_arrow_type(f.type)) for f in table.schema.fields])
    one, none = {"y": 1.5}, {"y": None}

    def written(**row):
        table.write(pa.Table.from_pylist([{"id": 1, **row}], kinds))

    rows = [
        {"id": 1, "s": None, "l": [None, one], "m": [("a", None), ("b", one)]},
        {"id": 2, "s": one, "l": None, "m": None},
        {"id": 3, "s": None, "l": [], "m": []},
    ]
    table.write(pa.Table.from_pylist(rows, kinds).take([2, 1, 0]).sort_by("id"))
    assert read(table) == rows
    before = data_files(table)
    for wrong, path in (({"s": none}, "s.y"), ({"l": [none]}, "l.element.y"), ({"m": {"a": none}}, "m.value.y")):
        with pytest.raises(SchemaError, match=f"Column '{path}' is NOT NULL, but 1 row"):
            written(**wrong)
    assert data_files(table) == before
    table.write(pa.Table.from_pylist([{**rows[1], "id": 4}], kinds))
    compact(table)
    assert sorted(read(table), key=lambda row: row["id"]) == [*rows, {**rows[1], "id": 4}]
