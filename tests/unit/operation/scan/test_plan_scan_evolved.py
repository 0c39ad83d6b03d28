"""Random histories of schema changes and writes against a naive model, and filters: what a scan skips holds no row that
the filter accepts."""

from __future__ import annotations

from dataclasses import replace
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.evolve import change
from support.evolved_histories import Model, accepts, ordered, predicates
from support.soak import examples
from support.tables import DELETE, compact, make_table, read, write

from tablestore_engine.errors import CastError, OptionError
from tablestore_engine.operation.read.arrow_read import read_rows
from tablestore_engine.schema.table.predicate import Compare, IsNull
from tablestore_engine.schema.types.types import DataField, parse_type


@pytest.mark.parametrize("key", [True, False], ids=["keyed", "append"])
@settings(max_examples=examples(15), deadline=None)
@given(data=st.data())
def test_histories(key, data):
    with TemporaryDirectory() as warehouse:
        model = Model(warehouse, key)
        model.play(data)
        table, expected = model.table, model.expected()
        assert ordered(read(table)) == ordered(expected)
        assert table.statistics().row_count >= len(expected)
        for predicate in (one for field in model.fields() for one in predicates(data, field)):
            plan = table.scan(predicate=predicate)
            found = [row for b in read_rows(table.state, plan, table.schema.field_names) for row in b.to_pylist()]
            wanted = ordered(row for row in expected if accepts(predicate, row))
            assert ordered(row for row in found if accepts(predicate, row)) == wanted, predicate


LAYOUTS = {
    "append": ((), {}),
    "keyed": (("a",), {}),
    "aggregation": (("a",), {"merge-engine": "aggregation", "fields.b.aggregate-function": "listagg"}),
    "partial-update": (("a",), {"merge-engine": "partial-update"}),
    "first-row": (("a",), {"merge-engine": "first-row"}),
    "multiset": ((), {"merge-engine": "tablestore-count"}),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_column_dropped_and_added_again(tmp_path, layout):
    """The example T(a, b, c) of the design: c is null in rows of before, whatever the rows below merge into."""
    key, options = LAYOUTS[layout]
    columns = {"a": "STRING", "b": "STRING", "c": "STRING"}
    table = make_table(tmp_path, columns, key, options={**options, **({"bucket": "1"} if key else {})})
    write(table, [{"a": "a1", "b": "b1", "c": "c1"}, {"a": "a0", "b": "b0", "c": "c0"}])
    table = change(table, table.schema.fields[:2])
    table = change(table, [*table.schema.fields, DataField(9, "c", parse_type("STRING"))])
    write(table, [{"a": "a2", "b": "b2", "c": "c2"}])
    rows = [{"a": "a0", "b": "b0", "c": None}, {"a": "a1", "b": "b1", "c": None}, {"a": "a2", "b": "b2", "c": "c2"}]
    if layout == "multiset":
        write(table, [{"a": "a0", "b": "b0"}], kinds=[DELETE])
        del rows[0]
    for _ in range(2):
        assert sorted(read(table), key=lambda row: row["a"]) == rows
        assert table.scan(predicate=IsNull("c")).files
        found = read(table, predicate=Compare("c", "=", "c1"))
        assert not [row for row in found if row["c"] == "c1"]
        compact(table)


def test_the_bucket_key_of_another_type(tmp_path):
    """Rows are where the hash of their past type put them."""
    table = make_table(tmp_path, {"k": "INT", "v": "INT"}, options={"bucket": "7", "bucket-key": "k"})
    write(table, [{"k": i, "v": i} for i in range(40)])
    key, value = table.schema.fields
    table = change(table, [replace(key, type=parse_type("BIGINT")), value])
    for number in range(40):
        plan = table.scan(predicate=Compare("k", "=", number))
        rows = [row for b in read_rows(table.state, plan, ("k",)) for row in b.to_pylist()]
        assert {"k": number} in rows


def test_an_error_names_the_value(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "a": "STRING"}, ["id"], options={"bucket": "1"})
    write(table, [{"id": 1, "a": "7"}, {"id": 2, "a": "seven"}, {"id": 3}])
    key, text = table.schema.fields
    table = change(table, [key, replace(text, name="b", type=parse_type("INT"))])
    with pytest.raises(CastError, match="column 'b' is INT, and the value is 'seven'"):
        read(table)
    assert read(table, columns=["id"]) == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_a_mode_of_tomorrow(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "a": "STRING"}, ["id"], options={"bucket": "1"})
    write(table, [{"id": 1, "a": "7"}])
    table = change(table, options={**table.schema.options, "schema.evolution.cast": "of-tomorrow"})
    with pytest.raises(OptionError, match=r"'schema\.evolution\.cast' = 'of-tomorrow' is not supported"):
        read(table)
