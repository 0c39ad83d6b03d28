"""The *leaves* of nested values: the arrays of single values inside of structs, lists and maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from tablestore_engine.mergetree.arrow_kernels.compare_values import elements_of, gathered, valid_mask
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataField, DataType, MapType, RowType


def leaves_of(values: pa.Array, kind: DataType) -> Iterator[tuple[AtomicType, pa.Array]]:
    """Each array of single values, with its type; of those inside of nulls, any."""
    if isinstance(kind, AtomicType):
        yield kind, values
    elif isinstance(kind, RowType):
        for at, field in enumerate(kind.fields):
            yield from leaves_of(values.field(at), field.type)
    elif len(values):
        yield from leaves_of(elements_of(values)[1], _element(kind))


def with_leaves(values: pa.Array, kind: DataType, change: Callable[[pa.Array, AtomicType], pa.Array]) -> pa.Array:
    """The values with other single values of the same type inside."""
    if isinstance(kind, AtomicType):
        return change(values, kind)
    if isinstance(kind, RowType):
        parts = [with_leaves(values.field(at), field.type, change) for at, field in enumerate(kind.fields)]
        fields = [values.type.field(at) for at in range(values.type.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=fields, mask=values.is_null())
    if not len(values):
        return values
    owners, elements = elements_of(values)
    return gathered(with_leaves(elements, _element(kind), change), owners, ~valid_mask(values), values.type)


def _element(kind: DataType) -> DataType:
    """The type of the elements of a list, or of the entries of a map."""
    if isinstance(kind, MapType):
        return RowType((DataField(0, "key", kind.key), DataField(1, "value", kind.value)))
    assert isinstance(kind, ArrayType)
    return kind.element
