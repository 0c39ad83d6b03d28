"""The values of a column as indexes see them: texts as bytes, everything else as whole numbers.

Floats are numbers that sort as Java sorts floats: -0.0 before 0.0, NaN, of which there is one, last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import BINARY_ROOTS, STRING_ROOTS, AtomicType

_WIDTHS = {
    "BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "TIME": 4, "FLOAT": 4,
    "BIGINT": 8, "TIMESTAMP": 8, "TIMESTAMP_LTZ": 8, "DOUBLE": 8,
}  # fmt: skip
_INTEGERS = {1: pa.int8(), 2: pa.int16(), 4: pa.int32(), 8: pa.int64()}
_FLOATS = {"FLOAT": (np.float32, np.int32), "DOUBLE": (np.float64, np.int64)}
_MOST = {"FLOAT": 2**31 - 1, "DOUBLE": 2**63 - 1}


def number_width(data_type: AtomicType) -> int | None:
    """The bytes of a value that is a number; None for texts and binary values."""
    return None if data_type.root in (*STRING_ROOTS, *BINARY_ROOTS) else _WIDTHS[data_type.root]


def index_values(column: pa.Array, data_type: AtomicType) -> pa.Array:
    """A column's values as bytes or numbers; nulls stay nulls."""
    width = number_width(data_type)
    if width is None:
        return column.cast(pa.binary())
    if data_type.root in _FLOATS:
        return _sortable(column, data_type.root)
    if data_type.root == "BOOLEAN":
        return column.cast(pa.int8())
    return column.cast(to_arrow_type(data_type)).cast(_INTEGERS[width])


def index_value(value: Any, data_type: AtomicType) -> Any:
    """One value of a query's, of the type's Python form, as bytes or a number."""
    return index_values(pa.array([value], to_arrow_type(data_type)), data_type)[0].as_py()


def bits_of(numbers: np.ndarray[Any, Any], data_type: AtomicType) -> np.ndarray[Any, Any]:
    """The bits of sortable numbers, as files hold them: for floats those of the float."""
    if data_type.root not in _FLOATS:
        return numbers
    return np.where(numbers < 0, numbers ^ _MOST[data_type.root], numbers)


def sortable_number(bits: int, data_type: AtomicType) -> int:
    """A number that a file holds as bits, as it is compared."""
    if data_type.root not in _FLOATS or bits >= 0:
        return bits
    return bits ^ _MOST[data_type.root]


def _sortable(column: pa.Array, root: str) -> pa.Array:
    floating, whole = _FLOATS[root]
    values = pc.fill_null(column, 0.0).to_numpy(zero_copy_only=False).astype(floating, copy=True)
    values[np.isnan(values)] = np.nan
    bits = values.view(whole)
    ordered = np.where(bits < 0, bits ^ _MOST[root], bits)
    return pa.array(ordered, mask=pc.is_null(column).to_numpy(zero_copy_only=False) if column.null_count else None)
