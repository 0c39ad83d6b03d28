"""Which ORC files Spark's own reader reads correctly.

Invariant: dates of ORC files are days of today's calendar, as Arrow and Java Paimon write them, though the footer says
nothing, or something else. Spark takes days before 1582-10-15 for dates of the Julian calendar. The days between the
calendars have no Julian date, so their values are lost in the conversion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta
from tablestore_engine.operation.scan.file_skipping import FileBounds
from tablestore_engine.operation.scan.stats_may_match import Bounds
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import TIMESTAMP_ROOTS, AtomicType, DataField, DataType, has_root

_SURELY_GREGORIAN = date(1583, 1, 1)  # later than the first day: other writers' statistics may be off by some days


def spark_reads_orc(fields: Sequence[DataField]) -> bool:
    """Whether Spark reads columns of ORC files rightly, apart from old dates (`may_have_old_dates`).

    It finds columns that are all called `_col…` by position. Java's ORC reader fails at fractions of seconds before
    1970 that Arrow wrote, and Spark reads timestamps without a zone only from ORC files of its own.
    """
    return not any(has_root(f.type, TIMESTAMP_ROOTS) for f in fields) and not all(
        f.name.lower().startswith("_col") for f in fields
    )


def with_dates(fields: Sequence[DataField]) -> tuple[DataField, ...]:
    """The columns that hold dates."""
    return tuple(one for one in fields if has_root(one.type, ("DATE",)))


def may_have_old_dates(file: DataFileMeta, dated: Sequence[DataField], own: Callable[[int], TableSchema]) -> bool:
    """Whether one of these columns of a file may hold a date that Spark misreads, as far as the statistics say. `own`
    loads the schema of a number."""
    if not dated:
        return False
    if not all(isinstance(one.type, AtomicType) for one in dated):
        return True  # nested values have no statistics
    bounds = FileBounds(file, own(file.schema_id), None).of(None)
    return any(_is_old(bounds(one.name)) for one in dated)


def _is_old(found: tuple[DataType, Bounds] | None) -> bool:
    if found is None:
        return True
    _, bounds = found
    if bounds.minimum is None:
        return bounds.null_count is None or bounds.null_count != bounds.row_count
    return bool(bounds.minimum < _SURELY_GREGORIAN)
