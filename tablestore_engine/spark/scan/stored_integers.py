"""Decimals that are doubles today, of Parquet files that store them as integers: these are what Spark reads.

To sum decimals that are cast to DOUBLE takes Spark half as long again as to sum doubles, because each is an object.
Asked for INT or BIGINT, its reader gives the integers of a column that is stored as INT32 or INT64. One of up to 15
digits and the power of ten that it is divided by are doubles without a rounding, so the quotient is the double that the
cast gives (IEEE 754).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from tablestore_engine.errors import StorageError
from tablestore_engine.recently_used import RecentlyUsed
from tablestore_engine.schema.types.sql_literals import quoted_name
from tablestore_engine.schema.types.types import AtomicType, DataField
from tablestore_engine.spark.expressions.column_source import Source
from tablestore_engine.storage.file_io import FileIO

MOST_FOOTERS: Final = 256
"""Files whose footers a read looks into, of which each takes as long as to cast some ten thousand decimals."""
_EXACT_DIGITS: Final = 15
_INT_DIGITS: Final = 9
_KINDS: Final = {"INT32": AtomicType("INT"), "INT64": AtomicType("BIGINT")}
_footers: Final[RecentlyUsed[tuple[str, int], Mapping[str, str]]] = RecentlyUsed(4 * MOST_FOOTERS)


def is_double_of_decimal(source: Source, field: DataField) -> bool:
    """Whether a column is read as a decimal whose integers would do."""
    stored = None if source.stored is None or source.sql is None else source.stored.type
    is_decimal = (
        isinstance(stored, AtomicType) and stored.root == "DECIMAL" and (stored.precision or 0) <= _EXACT_DIGITS
    )
    return is_decimal and isinstance(field.type, AtomicType) and field.type.root == "DOUBLE"


def of_integers(source: Source, field: DataField) -> Source:
    """The source of a column in files that store such decimals as integers; others stay."""
    if source.stored is None or not is_double_of_decimal(source, field):
        return source
    kind = source.stored.type
    assert isinstance(kind, AtomicType)
    stored = replace(source.stored, type=_KINDS[_stored_as(kind)])
    return Source(stored, f"cast({quoted_name(stored.name)} AS DOUBLE) / 1e{kind.scale or 0}D")


def stores_integers(io: FileIO, path: str, size: int, decimals: Sequence[DataField]) -> bool:
    """Whether a Parquet file stores each of some columns of such decimals as integers. False for a file that cannot be
    read, of which the scan says what is wrong."""
    found = _footers.get((path, size))
    if found is None:
        try:
            with io.open_input(path) as handle:
                columns = pq.read_metadata(handle).schema
        except (StorageError, pa.ArrowException, OSError):
            return False
        found = {columns.column(i).path: columns.column(i).physical_type for i in range(len(columns))}
        _footers.put((path, size), found)
    return all(isinstance(one.type, AtomicType) and found.get(one.name, "") == _stored_as(one.type) for one in decimals)


def _stored_as(kind: AtomicType) -> str:
    return "INT32" if (kind.precision or 0) <= _INT_DIGITS else "INT64"
