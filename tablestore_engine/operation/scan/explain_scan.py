"""The files that a scan reads and leaves out, and why, as text for EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.partition import PartitionFormat
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.operation.scan.scan_plan import ScanPlan
from tablestore_engine.schema.table.predicate import (
    And,
    Compare,
    In,
    IsNull,
    Or,
    Predicate,
    fixes_a_column,
    only_on,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import literal
from tablestore_engine.storage.paths import bucket_name

_MOST_NAMES: Final = 8


def predicate_text(predicate: Predicate | None) -> str:
    """A predicate as SQL."""
    if predicate is None:
        return ""
    if isinstance(predicate, (And, Or)):
        word = " AND " if isinstance(predicate, And) else " OR "
        return "(" + word.join(map(predicate_text, predicate.children)) + ")"
    if isinstance(predicate, Compare):
        return f"{predicate.column} {predicate.op} {literal(predicate.value)}"
    if isinstance(predicate, In):
        return f"{predicate.column} IN ({', '.join(map(literal, predicate.values))})"
    return f"{predicate.column} IS {'NULL' if isinstance(predicate, IsNull) else 'NOT NULL'}"


def scan_text(name: str, live: Sequence[ManifestEntry], plan: ScanPlan, predicate: Predicate | None) -> str:
    """The files, buckets and partitions of a table that a plan reads and leaves out. `live` are all files."""
    schema, partitions = plan.schema, PartitionFormat(plan.schema)
    where = f", snapshot {plan.snapshot.id}" if plan.snapshot else ""
    read = {file.file_name for file in plan.files}
    lines = [f"== Files of {name}{where} ==", f"{len(read)} of {len(live)} files are read"]
    choice = PartitionFilter(schema, predicate, None)
    path = {row: partitions.path_of(row) for row in {entry.partition for entry in live}}
    if schema.partition_keys:
        why = predicate_text(only_on(predicate, schema.partition_keys, schema.key))
        lines.append(_line("partitions", path.values(), [p for row, p in path.items() if not choice.wants(row)], why))
    left = [entry for entry in live if choice.wants(entry.partition)]
    buckets = {
        (e.partition, e.bucket): "/".join(filter(None, (path[e.partition], bucket_name(e.bucket)))) for e in left
    }
    kept = {(b.partition_row, b.bucket) for b in plan.buckets if b.files}
    key = only_on(predicate, schema.bucket_keys, schema.key)
    hashed = f"{predicate_text(key)} (hash)" if fixes_a_column(key, schema.key) else ""
    if len(buckets) > 1:
        why = hashed or f"statistics, {predicate_text(predicate)}"
        lines.append(
            _line("buckets", buckets.values(), [p for bucket, p in buckets.items() if bucket not in kept], why)
        )
    # Files of buckets that are left out are not named again; a bucket that is the only one is not named.
    files = [e.file.file_name for e in left if (e.partition, e.bucket) in kept or len(buckets) == 1]
    why = f"statistics and file indexes, {predicate_text(predicate)}"
    why = hashed if hashed and not kept else why
    lines.append(_line("files", files, [one for one in files if one not in read], why))
    return "\n".join(lines)


def replaced_text(
    name: str, live: Sequence[ManifestEntry], schema: TableSchema, replaces: Callable[[ManifestEntry], bool] | None
) -> str:
    """The files and partitions of a table that a statement replaces; of unknown rows, if `replaces` is None."""
    lines = [f"== Replaced files of {name} =="]
    if replaces is None:
        return "\n".join([*lines, f"those of the partitions in which there are rows, of {len(live)} files"])
    replaced = [entry for entry in live if replaces(entry)]
    lines.append(f"{len(replaced)} of {len(live)} files are replaced")
    if schema.partition_keys:
        partitions = PartitionFormat(schema)
        names = sorted({partitions.path_of(entry.partition) for entry in replaced})
        number = len({entry.partition for entry in live})
        lines.append(f"partitions: {len(names)} of {number}{': ' if names else ''}{_few(names)}")
    return "\n".join(lines)


def _few(names: Sequence[str]) -> str:
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _line(what: str, found: Iterable[str], left_out: Sequence[str], why: str) -> str:
    number = len(list(found))
    text = f"{what}: {number - len(left_out)} of {number}"
    if not left_out:
        return text
    names = sorted(left_out)
    return f"{text}; left out by {why}: {_few(names)}"
