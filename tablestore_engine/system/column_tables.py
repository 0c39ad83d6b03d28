"""`t$aggregation_fields` and `t$table_indexes`: how columns are merged, and which files index the keys."""

from __future__ import annotations

from typing import Any

from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.table import Table

AGGREGATION_FIELDS = "field_name string, field_type string, function string, function_options string, comment string"
TABLE_INDEXES = (
    "partition string, bucket int, index_type string, file_name string, file_size bigint, row_count bigint, "
    "dv_ranges array<struct<f0:string,f1:int,f2:int,cardinality:bigint>>"
)


def aggregation_fields(table: Table) -> list[tuple[Any, ...]]:
    """The columns, with the values and the keys of their options `fields.<column>.…`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for key, value in table.schema.options.items():
        family, _, rest = key.partition(".")
        column = rest.rpartition(".")[0]
        if family == "fields" and column:
            found.setdefault(column, []).append((value, key))
    return [
        (
            f.name,
            str(f.type),
            f"[{', '.join(value for value, _ in found.get(f.name, ()))}]",
            f"[{', '.join(key for _, key in found.get(f.name, ()))}]",
            f.description,
        )
        for f in table.schema.fields
    ]


def table_indexes(table: Table, snapshot: Snapshot | None) -> list[tuple[Any, ...]]:
    """The index files: of the keys in dynamic buckets, and deletion vectors."""
    partition_format = PartitionFormat(table.schema)
    return [
        (
            partition_format.braced(one.partition),
            one.bucket,
            one.index_type,
            one.file_name,
            one.file_size,
            one.row_count,
            _ranges(one.deletion_vectors),
        )
        for one in (table.index_files(snapshot) if snapshot else [])
    ]


def _ranges(deletion_vectors: Any) -> list[tuple[Any, ...]] | None:
    """Of each data file: its name, and where in the index file its deletion vector is."""
    if deletion_vectors is None:
        return None
    return [(one["f0"], one["f1"], one["f2"], one.get("_CARDINALITY")) for one in deletion_vectors]
