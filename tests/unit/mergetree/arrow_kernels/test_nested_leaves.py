"""Single values inside of nested ones are found and replaced, and everything around them stays."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tablestore_engine.mergetree.arrow_kernels.nested_leaves import leaves_of, with_leaves
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type

TEXT, INT = parse_type("STRING"), parse_type("INT")
STRUCT = RowType((DataField(0, "a", TEXT), DataField(1, "b", ArrayType(INT))))
NESTED = [
    (TEXT, ["x", None, ""]),
    (ArrayType(TEXT), [["x", None], None, [], ["y"]]),
    (STRUCT, [{"a": "x", "b": [1, None]}, None, {"a": None, "b": None}, {"a": "z", "b": []}]),
    (MapType(TEXT, ArrayType(TEXT)), [[("k", ["v", None])], None, [], [("k", None), ("l", ["w"])]]),
    (ArrayType(STRUCT), [[{"a": "x", "b": [1]}, None], [], None, [{"a": None, "b": None}]]),
    (ArrayType(ArrayType(TEXT)), [[["x"], None, []], None, [["y", "z"]]]),
]


def louder(value):
    """The same in capitals, at any depth."""
    if isinstance(value, str):
        return value.upper()
    if isinstance(value, dict):
        return {key: louder(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(louder(one) for one in value)
    return value


def in_capitals(values, kind):
    return pc.utf8_upper(values) if pa.types.is_string(values.type) else values


@pytest.mark.parametrize(("kind", "rows"), NESTED, ids=[str(kind) for kind, _ in NESTED])
@pytest.mark.parametrize("cut", [slice(None), slice(1, None), slice(1, 3), slice(0, 0)], ids=str)
def test_other_values_in_the_same_shape(kind, rows, cut):
    values = pa.array(rows, to_arrow_type(kind))
    start, stop, _ = cut.indices(len(values))
    found = with_leaves(values.slice(start, stop - start), kind, in_capitals)
    assert found.type == values.type
    assert found.to_pylist() == louder(rows[cut])
    found.validate(full=True)


def test_each_leaf_comes_with_its_type():
    kind = MapType(TEXT, STRUCT)
    rows = [[("k", {"a": "x", "b": [1, 2]}), ("l", {"a": None, "b": []})], None]
    values = pa.array(rows, to_arrow_type(kind))
    found = [(str(one), [v for v in leaf.to_pylist() if v is not None]) for one, leaf in leaves_of(values, kind)]
    assert found == [("STRING", ["k", "l"]), ("STRING", ["x"]), ("INT", [1, 2])]


def test_empty_lists_have_no_leaves():
    assert list(leaves_of(pa.array([], pa.list_(pa.string())), ArrayType(TEXT))) == []
