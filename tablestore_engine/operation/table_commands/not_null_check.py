"""Whether columns, or fields inside of them, hold nulls in a snapshot: what must be known before they become NOT NULL.
And whether reads see all rows, so that what is read says what the table holds.

Files whose statistics count no null in a column are not read. Where records of a key are folded, records count, and not
the rows that they make: a fold must not meet a null in a column that has none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.errors import ColumnNotFound, SchemaError
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.files.deletion_vectors import visible_entries
from tablestore_engine.operation.scan.file_skipping import FileBounds, null_counts
from tablestore_engine.operation.scan.plan_scan import live_entries, plan_scan
from tablestore_engine.schema.alter.edit_fields import Fields, require_path, type_at
from tablestore_engine.schema.table.predicate import IsNull
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import with_nulls
from tablestore_engine.table_state import TableState

if TYPE_CHECKING:
    import pyarrow as pa

Path = tuple[str, ...]

_AS_IT_IS = (
    "cannot become NOT NULL: it is null",
    "Give these rows a value first, for example by UPDATE … SET … WHERE … IS NULL.",
)
_AS_CAST = (
    "is NOT NULL, and the cast to its type ('schema.evolution.cast' = 'explicit-null') could make it null",
    "Allow null first, by ALTER COLUMN {} DROP NOT NULL, or give these rows values that can be cast.",
)


def check_no_nulls(state: TableState, schema: TableSchema, snapshot: Snapshot, paths: Collection[Path]) -> None:
    """Raise a SchemaError, which names the column or field, if one is null in a row of a snapshot as a schema reads it,
    or if the snapshot has rows that are not read before a compaction."""
    live = live_entries(state.manifests, snapshot)
    _check_all_visible(state, live)
    before = state.schema.fields
    fields = tuple(replace(one, type=with_nulls(one.type)) for one in schema.fields)
    state = state.with_schema(replace(schema, fields=fields))
    for path in paths:
        if len(path) == 1 and _has_none(state, live, path[0]):
            continue
        refusal = _AS_CAST if _is_strict(before, path) else _AS_IT_IS
        if state.schema.merge_engine.folds:
            _check_records(state, live, path, refusal)
        else:
            _check_rows(state, snapshot, path, refusal)


def _is_strict(fields: Fields, path: Path) -> bool:
    """Whether a column or field is NOT NULL already."""
    try:
        return not type_at(fields, require_path(fields, path)).nullable
    except ColumnNotFound:
        return False


def _check_all_visible(state: TableState, live: Sequence[ManifestEntry]) -> None:
    waiting = len(live) - len(visible_entries(live, state.schema))
    if waiting:
        raise SchemaError(
            f"'{state.name}' has rows in {waiting} file{'' if waiting == 1 else 's'} that cannot be checked: no read "
            f"sees them before the next compaction.",
            hint="Run ALTER TABLE … COMPACT, and try again.",
        )


def _check_records(state: TableState, live: Sequence[ManifestEntry], path: Path, refusal: tuple[str, str]) -> None:
    for entry in live:
        bounds = FileBounds(entry.file, state.schema, state.schemas.load).of(None)
        known = bounds(path[0])
        if len(path) > 1 or known is None or known[1].null_count != 0:
            if refusal is _AS_CAST:
                what, hint = refusal
                raise SchemaError(f"Column '{'.'.join(path)}' {what} in records.", hint=hint.format(path[0]))
            raise SchemaError(
                f"Column '{'.'.join(path)}' cannot become NOT NULL: with 'merge-engine' = "
                f"'{state.options.merge_engine}', records of the table may have no value for it.",
                hint="Write a value for every row, run ALTER TABLE … COMPACT, and try again.",
            )


def _check_rows(state: TableState, snapshot: Snapshot, path: Path, refusal: tuple[str, str]) -> None:
    # Metadata commands do not import Arrow.
    from tablestore_engine.operation.read.arrow_read import read_rows

    plan = plan_scan(state, snapshot, IsNull(path[0]) if len(path) == 1 else None, None)
    found = sum(_nulls(batch.column(0), path[1:]) for batch in read_rows(state, plan, (path[0],)))
    if found:
        what, hint = refusal
        raise SchemaError(
            f"Column '{'.'.join(path)}' {what} in {found} row{'' if found == 1 else 's'}.",
            hint=hint.format(path[0]),
        )


def _has_none(state: TableState, live: Sequence[ManifestEntry], column: str) -> bool:
    """Whether the statistics of all files say that no value of a column is null."""
    files = (entry.file for entry in live)
    return all(count == 0 for count in null_counts(files, state.schema, state.schemas.load, column))


def _nulls(array: pa.Array, path: Path) -> int:
    """How many values at a path are null where what is around them is not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not path:
        return int(array.null_count)
    there = array.drop_null()
    if pa.types.is_struct(there.type):
        return _nulls(there.flatten()[there.type.get_field_index(path[0])], path[1:])
    if pa.types.is_map(there.type):
        # A map that was filtered has the keys and items of its own entries only.
        return _nulls(there.keys if path[0] == "key" else there.items, path[1:])
    return _nulls(pc.list_flatten(there), path[1:])
