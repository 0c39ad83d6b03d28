"""The rows of a result, converted from Spark to dbt with their types.

A *result* is column names, Spark type texts and rows of Python values: int, float, Decimal, str, bool, date,
aware datetime for TIMESTAMP, naive for TIMESTAMP_NTZ, None. Invariant: no value is guessed from its text. 2^60+1, a
decimal's scale, microseconds, '' and 'null' reach dbt as they are stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timezone
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import agate
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tablestore_engine.sql.result import StatementResult

Row = tuple[Any, ...]


def rows_of(query: StatementResult, limit: int | None = None) -> list[Row]:
    """All rows of a query, or the first `limit`. Runs it. Raises the engine's errors."""
    with query.running() as frame:
        wanted = frame if limit is None else frame.limit(limit)
        if _arrow_fits(wanted):
            return _arrow_rows(wanted.toArrow())
        kinds = types_of(wanted)
        return [tuple(_plain(one, kind) for one, kind in zip(row, kinds, strict=True)) for row in wanted.collect()]


def types_of(frame: DataFrame) -> list[str]:
    """The columns' types as Spark writes them. Analyses the query, does not run it."""
    from tablestore_engine.spark.expressions.spark_types import declared_as

    return [declared_as(one).simpleString() for one in frame.schema.fields]


def agate_table(names: Sequence[str], types: Sequence[str | None], rows: Sequence[Row]) -> agate.Table:
    """An agate table with exactly these types. The type of a column whose type is None follows from its values."""
    import agate

    unique = _unique(names)
    kinds = [_agate_type(kind, [row[i] for row in rows]) for i, kind in enumerate(types)]
    texts = [_is_text(one) for one in kinds]
    cells = [[_cell(value, text) for value, text in zip(row, texts, strict=False)] for row in rows]
    return agate.Table(cells, unique, kinds)


def _arrow_fits(frame: DataFrame) -> bool:
    """Whether Arrow can hold every column: no intervals, variants or times, and no two columns of one name."""
    names = [one.name for one in frame.schema.fields]
    kinds = " ".join(types_of(frame))
    return len(set(names)) == len(names) and not any(one in kinds for one in ("interval", "variant", "time("))


def _arrow_rows(table: pa.Table) -> list[Row]:
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=False)) if columns else [() for _ in range(table.num_rows)]


def _plain(value: Any, kind: str) -> Any:
    """A Row as a dict; a TIMESTAMP, which Spark gives in this process's time zone, as an aware datetime in UTC."""
    if hasattr(value, "asDict"):
        return value.asDict(recursive=True)
    if kind == "timestamp" and value is not None:
        return value.astimezone(timezone.utc)
    return value


def _unique(names: Sequence[str]) -> list[str]:
    """The names; the second and later uses of a name get `_2`, `_3` …"""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def _agate_type(kind: str | None, values: Sequence[Any]) -> Any:
    import agate
    from dbt_common.clients.agate_helper import Integer, ISODateTime, Number

    kind = _kind_of_values(values) if kind is None else kind.lower()
    if kind in ("tinyint", "smallint", "int", "bigint"):
        return Integer(null_values=())
    if kind in ("float", "double") or kind.startswith("decimal"):
        # agate's numbers are decimals, which have no NaN or infinity: such a column is shown as text.
        odd = any(isinstance(one, float) and one - one != 0 for one in values)
        return agate.Text(null_values=()) if odd else Number(null_values=())
    if kind == "boolean":
        return agate.Boolean(null_values=())
    if kind == "date":
        return agate.Date(null_values=())
    if kind.startswith("timestamp"):
        return ISODateTime(null_values=())
    return agate.Text(null_values=())


def _kind_of_values(values: Sequence[Any]) -> str:
    from datetime import date, datetime
    from decimal import Decimal

    kinds = {type(one) for one in values if one is not None}
    for python, spark in ((bool, "boolean"), (int, "bigint"), (float, "double"), (Decimal, "decimal"),
                          (datetime, "timestamp"), (date, "date")):  # fmt: skip
        if kinds == {python}:
            return spark
    return "string"


def _is_text(kind: Any) -> bool:
    import agate

    return isinstance(kind, agate.Text)


def _cell(value: Any, text: bool) -> Any:
    """A value as agate's column wants it; nested values become JSON text."""
    if value is None or not text or isinstance(value, str):
        return value
    if isinstance(value, (dict, list, tuple)):
        import json

        from dbt_common.utils.encoding import ForgivingJSONEncoder

        return json.dumps(value, cls=ForgivingJSONEncoder)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).hex().upper()
    return str(value)
