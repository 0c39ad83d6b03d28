"""Values of files as Arrow arrays of the types of today (see also `tests/unit/schema/casts`)."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.operation.files.cast_old_columns import evolved
from tablestore_engine.schema.casts.cast_old_columns import CastRules, ColumnCast
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import ArrayType, AtomicType

HOW = ColumnCast("v", CastRules())
VARIANT = AtomicType("VARIANT")


def test_variants_stay_as_they_are():
    values = pa.array([{"value": b"\x0c\x01", "metadata": b"\x01\x00\x00"}, None], to_arrow_type(VARIANT))
    assert evolved(values, VARIANT, VARIANT, HOW).to_pylist() == values.to_pylist()
    turned = pa.array([{"metadata": b"m", "value": b"v"}])
    assert evolved(turned, VARIANT, VARIANT, HOW).to_pylist() == [{"value": b"v", "metadata": b"m"}]


@pytest.mark.parametrize("nested", [False, True])
def test_parts_of_shredded_variants_are_not_dropped(nested):
    shredded = {"metadata": b"m", "value": None, "typed_value": {"a": {"value": None, "typed_value": 1}}}
    values, kind = (pa.array([[shredded]]), ArrayType(VARIANT)) if nested else (pa.array([shredded]), VARIANT)
    with pytest.raises(UnsupportedTypeError, match="'v' has a file with shredded variants"):
        evolved(values, kind, kind, HOW)
