"""Seeds: the rows of a CSV file as a typed Arrow table, and the types of the table that is made of them.

Invariant: values reach the table as they are in the file. Text columns (all columns with a configured type) keep every
character until Spark casts them, whole numbers of any size stay exact, a decimal without a given precision keeps its
fraction, and an empty field is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.relation.column import ANY_DECIMAL, TableStoreColumn
from tablestore_engine.schema.types.sql_literals import quoted_name

_FRACTION = re.compile(r"\.(\d*[1-9])0*\s*$")

if TYPE_CHECKING:
    import agate
    import pyarrow as pa


@dataclass(frozen=True)
class SeedColumn:
    """One column of a seed: its name in the file, and the Spark type of the table's column."""

    name: str
    type: str
    is_text: bool

    @property
    def item(self) -> str:
        """The select item that casts the column to its type."""
        name = quoted_name(self.name)
        return f"cast({name} as {self.type}) as {name}"


def columns_of(
    table: agate.Table, column_types: Mapping[str, str], inferred: Callable[[agate.Table, int], str | None]
) -> list[SeedColumn]:
    """The seed's columns. column_types: the configured types by column name, used instead of the inferred ones."""
    import agate

    columns = []
    for index, name in enumerate(table.column_names):
        configured = column_types.get(name)
        kind = TableStoreColumn.translate_type(configured) if configured else inferred(table, index)
        if configured and "(" not in configured and kind == ANY_DECIMAL:
            kind = _decimal_of(table.columns[index].values())
        columns.append(SeedColumn(name, kind or "string", isinstance(table.column_types[index], agate.Text)))
    return columns


def _decimal_of(values: Iterable[Any]) -> str:
    """The decimal type of 38 digits that keeps the fractions of these numbers, with at least six fractional digits."""
    fractions = [_FRACTION.search(str(one)) for one in values if one is not None]
    return f"decimal(38,{min(38, max([6, *(len(one[1]) for one in fractions if one)]))})"


def check_names(columns: list[SeedColumn], quote_columns: bool | None) -> None:
    """Refuse names that need quotes, if the seed sets `quote_columns: false`.

    Such a name is nearly always a whole header line that was read with the wrong delimiter. Raises DbtRuntimeError.
    """
    if quote_columns is not False:
        return
    for column in columns:
        if not re.fullmatch(r"\w+", column.name):
            raise DbtRuntimeError(
                f"Syntax error in the seed's column name '{column.name}'. Check the delimiter, or set "
                "quote_columns: true if the name is meant."
            )


def arrow_table(table: agate.Table, columns: list[SeedColumn]) -> pa.Table:
    """The rows, with types from which Spark's cast to each column's type loses nothing."""
    import pyarrow as pa

    arrays = [_array(table.columns[index].values(), column) for index, column in enumerate(columns)]
    return pa.Table.from_arrays(arrays, names=[one.name for one in columns])


def _array(values: Any, column: SeedColumn) -> pa.Array:
    import pyarrow as pa

    if column.is_text:
        return pa.array([None if one is None else str(one) for one in values], pa.string())
    kind = column.type
    if kind == "bigint":
        return pa.array([None if one is None else int(one) for one in values], pa.int64())
    if kind == "double":
        return pa.array([None if one is None else float(one) for one in values], pa.float64())
    if kind == "boolean":
        return pa.array(list(values), pa.bool_())
    if kind == "date":
        return pa.array(list(values), pa.date32())
    if kind == "timestamp":
        return pa.array(list(values), _instants(values))
    # All others are passed as text, which can be cast to every type.
    return pa.array([None if one is None else str(one) for one in values], pa.string())


def _instants(values: Any) -> pa.DataType:
    """Times with a zone are instants; times without one are in the session's zone."""
    import pyarrow as pa

    aware = any(one is not None and one.tzinfo is not None for one in values)
    return pa.timestamp("us", tz="UTC") if aware else pa.timestamp("us")
