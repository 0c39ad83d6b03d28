"""Types keep their text and JSON forms, which are persisted."""

from __future__ import annotations

import pickle
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.schema.types.types import (
    ArrayType,
    AtomicType,
    DataField,
    MapType,
    RowType,
    assign_field_ids,
    nested_fields,
    parse_type,
)

ATOMIC = st.one_of(
    st.builds(
        AtomicType,
        st.sampled_from(
            ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "BYTES", "DATE"]
        ),
        st.booleans(),
    ),
    st.builds(AtomicType, st.just("DECIMAL"), st.booleans(), st.integers(10, 38), st.integers(0, 10)),
    st.builds(AtomicType, st.sampled_from(["TIMESTAMP", "TIMESTAMP_LTZ", "TIME"]), st.booleans(), st.integers(0, 9)),
    st.builds(
        AtomicType,
        st.sampled_from(["CHAR", "VARCHAR", "BINARY", "VARBINARY"]),
        st.booleans(),
        st.integers(1, 99),
    ),
)
FIELDS = st.builds(DataField, st.integers(0, 99), st.text(min_size=1, max_size=5), ATOMIC, st.none() | st.text())
TYPES = st.recursive(
    ATOMIC,
    lambda inner: st.one_of(
        st.builds(ArrayType, inner, st.booleans()),
        st.builds(MapType, inner, inner, st.booleans()),
        st.builds(
            RowType,
            st.lists(st.builds(DataField, st.integers(0, 99), st.text(min_size=1, max_size=5), inner), max_size=3).map(
                tuple
            ),
            st.booleans(),
        ),
    ),
    max_leaves=6,
)


@given(TYPES)
def test_json_form_round_trips(data_type):
    assert parse_type(data_type.to_json()) == data_type
    assert pickle.loads(pickle.dumps(data_type)) == data_type
    assert data_type.as_nullable(False).nullable is False
    assert data_type.as_nullable(data_type.nullable) is data_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BIGINT NOT NULL", AtomicType("BIGINT", nullable=False)),
        ("INTEGER", AtomicType("INT")),
        ("decimal(10,2)", AtomicType("DECIMAL", precision=10, scale=2)),
        ("NUMERIC", AtomicType("DECIMAL", precision=10, scale=0)),
        ("TIMESTAMP", AtomicType("TIMESTAMP", precision=6)),
        ("TIMESTAMP(3) WITHOUT TIME ZONE NULL", AtomicType("TIMESTAMP", precision=3)),
        ("TIMESTAMP_LTZ(3) NOT NULL", AtomicType("TIMESTAMP_LTZ", nullable=False, precision=3)),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", AtomicType("TIMESTAMP_LTZ", precision=6)),
        ("VARCHAR(2147483647)", AtomicType("STRING")),
        ("VARBINARY(2147483647)", AtomicType("BYTES")),
        ("VARCHAR(20)", AtomicType("VARCHAR", precision=20)),
        ("TIME", AtomicType("TIME", precision=0)),
    ],
)
def test_spellings_of_other_writers(text, expected):
    assert parse_type(text) == expected


@pytest.mark.parametrize(
    ("data_type", "text"),
    [
        (AtomicType("DECIMAL", nullable=False, precision=10, scale=2), "DECIMAL(10, 2) NOT NULL"),
        (AtomicType("TIMESTAMP_LTZ"), "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        (AtomicType("VARCHAR", precision=9), "VARCHAR(9)"),
        (ArrayType(AtomicType("INT", nullable=False)), "ARRAY<INT NOT NULL>"),
        (MapType(AtomicType("STRING"), AtomicType("INT")), "MAP<STRING, INT>"),
        (RowType((DataField(0, "a", AtomicType("INT")),), nullable=False), "ROW<`a` INT> NOT NULL"),
    ],
)
def test_text_form(data_type, text):
    assert str(data_type) == text


def test_nested_forms_of_other_writers():
    assert parse_type({"type": "ARRAY", "element": "INT", "nullable": False}) == ArrayType(AtomicType("INT"), False)
    assert parse_type({"type": "MAP NOT NULL", "key": "INT", "value": "INT"}).nullable is False


@pytest.mark.parametrize(
    "data",
    ["BLOB", "INT(3)", "DECIMAL(39, 0)", "DECIMAL(5, 6)", "TIMESTAMP(10)", "", "INT INT", "CHAR(0)",
     {"type": "MULTISET", "element": "INT"}, {"type": "VECTOR", "element": "INT", "length": 3}],
    ids=str,
)  # fmt: skip
def test_types_that_a_table_cannot_hold_are_refused(data):
    with pytest.raises(UnsupportedTypeError):
        parse_type(data)


def test_inner_fields_are_numbered_before_the_outer_one():
    inner = RowType((DataField(0, "x", AtomicType("INT")), DataField(0, "y", AtomicType("INT"))))
    outer = RowType((DataField(0, "a", ArrayType(inner)), DataField(0, "b", AtomicType("INT"))))
    ids = count(5)
    numbered = assign_field_ids(outer, lambda: next(ids))
    assert [one.id for one in nested_fields(numbered)] == [7, 8, 5, 6], "outer fields come first"
