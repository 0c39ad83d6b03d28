"""Variants in files: a struct of two binaries, neither of which is null where the variant is none."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import UnsupportedTypeError
from tablestore_engine.mergetree.arrow_kernels.compare_values import one_array
from tablestore_engine.mergetree.arrow_kernels.nested_leaves import with_leaves
from tablestore_engine.schema.types.types import AtomicType, DataField, has_root

ROOTS = ("VARIANT",)


def with_whole_variants(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """Rows without nulls inside of null variants, which Arrow would not write."""
    for field in fields:
        if has_root(field.type, ROOTS) and field.name in rows.column_names:
            at = rows.column_names.index(field.name)
            rows = rows.set_column(at, field.name, with_leaves(one_array(rows.column(at)), field.type, _whole))
    return rows


def _whole(values: pa.Array, kind: AtomicType) -> pa.Array:
    if kind.root not in ROOTS:
        return values
    fields = [values.type.field(at) for at in range(values.type.num_fields)]
    parts = [pc.fill_null(values.field(at), b"") for at in range(len(fields))]
    return pa.StructArray.from_arrays(parts, fields=fields, mask=values.is_null())


def refuse_shredded(column: str, kind: pa.DataType) -> None:
    """Raise an UnsupportedTypeError for parts of variants in columns of their own, which a cast would lose."""
    if pa.types.is_struct(kind) and kind.get_field_index("typed_value") >= 0 and kind.get_field_index("metadata") >= 0:
        raise UnsupportedTypeError(
            f"Column '{column}' has a file with shredded variants, which only Spark puts together.",
            hint="Read it by SQL, or rewrite the file by the tool that wrote it, without shredding.",
        )
    for at in range(kind.num_fields):
        refuse_shredded(column, kind.field(at).type)
