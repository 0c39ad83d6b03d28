"""Seeds: a CSV file's rows as a typed Arrow table, and the statement that makes a table of it.

Invariant: a value reaches the table as it stands in the file: text columns (all those with a configured type) keep
every character until Spark casts them, whole numbers stay whole at any size, a number of no told precision keeps its
fraction, an empty field is null.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.relation.column import ANY_DECIMAL, TableStoreColumn
from tablestore_engine.schema.types.sql_text import quoted_name

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
        """The select item that gives the column its type."""
        name = quoted_name(self.name)
        return f"cast({name} as {self.type}) as {name}"


def columns_of(
    table: agate.Table, column_types: Mapping[str, str], inferred: Callable[[agate.Table, int], str | None]
) -> list[SeedColumn]:
    """The seed's columns. column_types: the configured types by column name, which come first."""
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
    """The decimal type of 38 digits that keeps the fractions of these numbers, at least six digits of them."""
    fractions = [_FRACTION.search(str(one)) for one in values if one is not None]
    return f"decimal(38,{min(38, max([6, *(len(one[1]) for one in fractions if one)]))})"


def check_names(columns: list[SeedColumn], quote_columns: bool | None) -> None:
    """Refuse names that only quotes make possible where the seed says that they shall not be quoted.

    Such a name is nearly always a whole header line, read with the wrong delimiter. Raises DbtRuntimeError.
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
    """The rows, typed so that Spark's cast to each column's type loses nothing."""
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
    # Anything else goes as text, which every type can be cast from.
    return pa.array([None if one is None else str(one) for one in values], pa.string())


def _instants(values: Any) -> pa.DataType:
    """Times with a zone are instants; times without one are read in the session's zone."""
    import pyarrow as pa

    aware = any(one is not None and one.tzinfo is not None for one in values)
    return pa.timestamp("us", tz="UTC") if aware else pa.timestamp("us")
