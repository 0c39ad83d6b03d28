"""Values of a past type as Arrow arrays of the current one (see `schema.casts.cast_old_columns`); none leaves Arrow."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.operation.files.variants import ROOTS as VARIANTS
from tablestore_engine.operation.files.variants import refuse_shredded
from tablestore_engine.schema.casts.cast_arrays import cast_array
from tablestore_engine.schema.casts.cast_old_columns import ColumnCast, cast_error, is_same, past_field
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.types import ArrayType, AtomicType, DataType, MapType, RowType, has_root


def evolved(array: pa.Array, past: DataType, current: DataType, how: ColumnCast) -> pa.Array:
    """An array of a file, whose column had the type `past`, in the Arrow type of `current`.

    The change is one that `check_readable` allows.

    Raises:
        CastError: a value cannot be cast, and is not to become null.
        UnsupportedTypeError: variants that another writer shredded.
    """
    target = to_arrow_type(current)
    if has_root(past, VARIANTS):
        refuse_shredded(how.column, array.type)
    if not is_same(past, current):
        stored = to_arrow_type(past)
        array = array if array.type == stored else array.cast(stored)
        if isinstance(past, RowType) and isinstance(current, RowType):
            return _row(array, past, current, how)
        if isinstance(past, ArrayType) and isinstance(current, ArrayType):
            values = evolved(array.values, past.element, current.element, how.at("element"))
            return _nested(array, target, values)
        if isinstance(past, MapType) and isinstance(current, MapType):
            items = evolved(array.items, past.value, current.value, how.at("value"))
            pairs = pa.StructArray.from_arrays(
                [array.keys.cast(target.key_type), items], fields=[target.key_field, target.item_field]
            )
            return _nested(array, target, pairs)
        assert isinstance(current, AtomicType)
        return _cast(array, past, current, how)
    return array if array.type == target else array.cast(target)


def _cast(array: pa.Array, past: DataType, current: AtomicType, how: ColumnCast) -> pa.Array:
    found = cast_array(array, past, current, how.rules.zone)
    if how.rules.fails and found.null_count > array.null_count:
        at = pc.index(pc.and_(pc.is_null(found), pc.is_valid(array)), True).as_py()
        shown = cast_array(array.slice(at, 1), past, AtomicType("STRING"), how.rules.zone)
        raise cast_error(how, current, shown[0].as_py())
    return found


def _row(array: pa.StructArray, past: RowType, current: RowType, how: ColumnCast) -> pa.Array:
    target = to_arrow_type(current)
    children = []
    for i, field in enumerate(current.fields):
        source = past_field(past, field)
        at = -1 if source is None else array.type.get_field_index(source.name)
        children.append(
            pa.nulls(len(array), target.field(i).type)
            if source is None or at < 0
            else evolved(array.field(at), source.type, field.type, how.at(field.name))
        )
    fields = [target.field(i) for i in range(target.num_fields)]
    return pa.StructArray.from_arrays(children, fields=fields, mask=array.is_null())


def _nested(array: pa.Array, target: pa.DataType, values: pa.Array) -> pa.Array:
    """A list or map of the same shape with other values."""
    # Where each begins and ends, and which are null, stays; a slice keeps the buffers of the whole.
    return pa.Array.from_buffers(target, len(array), array.buffers()[:2], offset=array.offset, children=[values])
