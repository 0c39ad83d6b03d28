"""Arrow rows with a table's columns in order and type."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.errors import RowKindError, SchemaError
from tablestore_engine.mergetree.arrow_kernels.nested_leaves import with_leaves
from tablestore_engine.mergetree.arrow_kernels.row_ids import same_floats
from tablestore_engine.operation.write_job.write_job import ROW_KIND_COLUMN
from tablestore_engine.schema.table.row_kind import (
    KINDS,
    KINDS_HINT,
    UNKNOWN_KIND,
    own_kind_column,
    row_kind_column,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.default_values import default_scalar
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.types import AtomicType, DataField, DataType, has_root


def table_rows(rows: pa.Table, schema: TableSchema) -> pa.Table:
    """The rows as the table holds them; `ROW_KIND_COLUMN` is kept when it is there, or made from `_row_kind`.

    Raises:
        SchemaError: a column is missing, unknown or given twice, or its values do not fit the column's type.
        RowKindError: a text that is no row kind.
    """
    rows = _numbered_kinds(rows, schema)
    given = Names(rows.column_names)
    _check_given_once(rows, given, schema)
    unknown = [n for n in rows.column_names if n != ROW_KIND_COLUMN and not schema.has_field(n)]
    missing = [f.name for f in schema.fields if f.name not in given and f.default_value is None]
    if unknown or missing:
        raise SchemaError(
            f"The rows do not fit the table: {'no column ' + ', '.join(missing) if missing else ''}"
            f"{'; ' if missing and unknown else ''}{'unknown column ' + ', '.join(unknown) if unknown else ''}.",
            hint=f"The table has: {', '.join(schema.field_names)}.",
        )
    arrays, names = [], []
    for field in schema.fields:
        target = to_arrow_type(field.type)
        own = given.find(field.name)
        column = _defaults(field, rows.num_rows) if own is None else rows.column(own)
        try:
            column = column if column.type == target else _cast(column, target)
        except pa.ArrowException as error:
            raise SchemaError(f"Column '{field.name}' cannot be written as {field.type}: {error}.") from error
        column = stored_column(column, field.type)
        arrays.append(same_floats(column) if field.name in schema.bitwise_columns else column)
        names.append(field.name)
    if ROW_KIND_COLUMN in rows.column_names:
        arrays.append(rows.column(ROW_KIND_COLUMN).cast(pa.int8()))
        names.append(ROW_KIND_COLUMN)
    return pa.table(arrays, names=names)


def _check_given_once(rows: pa.Table, given: Names, schema: TableSchema) -> None:
    """Raise a SchemaError for a column of the table that has several in the rows: one would be lost."""
    taken = {given.position(field.name) for field in schema.fields}
    for at, name in enumerate(rows.column_names):
        if at not in taken and schema.has_field(name):
            own = schema.field(name).name
            several = [one for one in rows.column_names if schema.key(one) == schema.key(own)]
            raise SchemaError(
                f"The rows have several columns for '{own}' of the table: {', '.join(several)}.",
                hint="Drop or rename all of them but one.",
            )


def _defaults(field: DataField, number: int) -> pa.ChunkedArray:
    return pa.chunked_array([pa.repeat(default_scalar(field), number)])


def filled_column(column: pa.ChunkedArray, kind: DataType) -> pa.ChunkedArray:
    """A CHAR, also inside of a struct, list or map, of its full length; one that does not fit stays as it is, and is
    refused when it is written."""
    if not has_root(kind, ("CHAR",)):
        return column
    return pa.chunked_array([with_leaves(chunk, kind, _padded) for chunk in column.chunks], column.type)


def stored_column(column: pa.ChunkedArray, kind: DataType) -> pa.ChunkedArray:
    """A CHAR of its full length, and a VARCHAR without the blanks that are behind its length."""
    column = filled_column(column, kind)
    if not has_root(kind, ("VARCHAR",)):
        return column
    return pa.chunked_array([with_leaves(chunk, kind, _trimmed) for chunk in column.chunks], column.type)


def _trimmed(texts: pa.Array, kind: AtomicType) -> pa.Array:
    if kind.root != "VARCHAR":
        return texts
    length = kind.precision or 1
    longer = pc.greater(pc.utf8_length(texts), length)
    if not pc.any(longer).as_py():
        return texts
    blank = pc.equal(pc.utf8_rtrim(pc.utf8_slice_codeunits(texts, length), " "), "")
    return pc.if_else(pc.and_(longer, blank), pc.utf8_slice_codeunits(texts, 0, length), texts)


def _padded(texts: pa.Array, kind: AtomicType) -> pa.Array:
    if kind.root != "CHAR":
        return texts
    length = kind.precision or 1
    short = pc.utf8_rtrim(texts, " ")
    fits = pc.less_equal(pc.utf8_length(short), length)
    return pc.if_else(fits, pc.utf8_rpad(short, length, " "), texts)


def _cast(column: pa.ChunkedArray, target: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_integer(column.type) and pa.types.is_decimal(target):
        # Arrow requires room for all integers of the type; the second cast checks whether these fit.
        column = column.cast(pa.decimal256(20 + target.scale, target.scale))
    return column.cast(target)


def _numbered_kinds(rows: pa.Table, schema: TableSchema) -> pa.Table:
    own = own_kind_column(schema)
    name = row_kind_column(rows.column_names, schema) if own is None else own
    if name is None or name not in rows.column_names or ROW_KIND_COLUMN in rows.column_names:
        return rows
    at = rows.column_names.index(name)
    texts = rows.column(at).cast(pa.string())
    numbers = pc.index_in(texts, pa.array(KINDS))
    if numbers.null_count:
        unknown = texts.filter(numbers.is_null())[0].as_py()
        raise RowKindError(f"{UNKNOWN_KIND}{'null' if unknown is None else unknown}.", hint=KINDS_HINT)
    kinds = numbers.cast(pa.int8())
    return rows.set_column(at, ROW_KIND_COLUMN, kinds) if own is None else rows.append_column(ROW_KIND_COLUMN, kinds)
