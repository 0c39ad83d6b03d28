"""Rolling a table back: the rows of an earlier snapshot become those of a new one, by one commit.

No snapshot is deleted. The snapshots in between stay until they expire, so their readers can finish, and a rollback can
itself be rolled back. A commit is one atomic create, so readers never see half of it; a writer that began before is
committed after it or conflicts, as with any other commit.

A file that was removed from the table never becomes part of it again, because expiration, here and in other programs,
assumes that such a file is not needed any more. So removed files are restored as copies under new names; live files
stay. The same holds for the index of dynamic buckets: a restored key is in the bucket it had then, which the current
index need not contain.

Rows of a table with deletion vectors that waited for a compaction are restored as well, and wait again: they were
committed. (So does Paimon, when it returns to a snapshot and when it commits its files once more.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tablestore_engine.errors import (
    CommitOutcomeUnknownError,
    SnapshotNotFound,
    StorageError,
    TableStoreError,
    UserError,
)
from tablestore_engine.metadata.manifest_encoding.index_manifest import DELETION_VECTORS, HASH, IndexEntry, hash_entries
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.operation.commit.commit import Change
from tablestore_engine.operation.commit.commit_identity import new_identity
from tablestore_engine.operation.commit.consumed_positions import Consumed, carried
from tablestore_engine.operation.commit.index_change import IndexChange
from tablestore_engine.operation.commit.replace_table import restarts
from tablestore_engine.operation.files.deletion_vectors import (
    deletions_of,
    read_positions_of,
    without_postponed,
    write_vectors,
)
from tablestore_engine.operation.files.entry_paths import EntryPaths
from tablestore_engine.operation.files.index_files import index_entries, index_path
from tablestore_engine.operation.files.rolling_writer import WriteTarget, write_target
from tablestore_engine.operation.scan.plan_scan import live_entries
from tablestore_engine.operation.transaction.transaction import Committed, publish_change
from tablestore_engine.operation.write.cleanup import remove_files
from tablestore_engine.operation.write_job.write_intent import WriteIntent
from tablestore_engine.schema.alter.apply_changes import forbidden_nulls
from tablestore_engine.schema.alter.edit_fields import retyped
from tablestore_engine.schema.alter.partition_fields import layout_of
from tablestore_engine.schema.table.check_constraints import check_constraints, check_options, without_checks
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.storage.metadata_files.schema_store import SchemaStore
from tablestore_engine.table_state import TableState

ROLLED_BACK_TO = "tablestore.rolled-back-to"  # property of a snapshot: the id of the one whose rows it has
_CHUNK = 8 << 20


def roll_back(state: TableState, to: Snapshot, consumed: tuple[Consumed, ...] = ()) -> Committed | None:
    """Restore the rows of a snapshot or tag. Returns the commit, None when the table has these rows already.

    The columns are the current ones; if the table was replaced in between, those of the snapshot. `consumed` is what
    the commit says besides.

    Raises:
        SnapshotNotFound: the snapshot expired meanwhile.
        ConflictError: others changed the table meanwhile; run it again.
        UserError: other programs keep an index of its files.
    """
    latest = state.snapshots.latest()
    if latest is None or to.id in (latest.id, _rolled_back_to(latest)):
        return None
    schema = restored_schema(state.schemas, state.schema, to)
    anew = restarts(state.schema, schema)
    target = write_target(state.with_schema(schema))
    index, index_now = index_entries(state.manifests, to), index_entries(state.manifests, latest)
    if _of_others(index) != _of_others(index_now):
        raise UserError(
            f"Table {state.name} cannot be rolled back: it has an index of its files, which was a different one then.",
            hint=f"Use INSERT OVERWRITE … SELECT * FROM … VERSION AS OF {to.id}.",
        )
    try:
        past = state.with_schema(state.schemas.load(to.schema_id))
        wanted = without_postponed(live_entries(state.manifests, to), past.schema)
        live = [] if anew else live_entries(state.manifests, latest)
        alive = {entry.identifier for entry in live}
        same_rows = {entry.identifier for entry in wanted} == alive and _vectors(index) == _vectors(index_now)
        if schema is state.schema and same_rows:
            return None
        replaced = [e for e in wanted if e.identifier not in alive]
        copies = _copies(target, replaced)
        stays = [e for e in wanted if e.identifier in alive]
        there = set() if anew else {e.file_name for e in index_now}
        names = {old.file.file_name: new.file.file_name for old, new in zip(replaced, copies, strict=True)}
        vectors = _restored_vectors(target, past, to, names)
        change = Change(
            "OVERWRITE",
            tuple(copies),
            restarts=anew,
            restores=None if anew else (*stays, *copies),
            index=_index_change(target, past.schema, hash_entries(index), there, vectors),
        )
        identity = new_identity(schema.core_options, "rollback")
        return publish_change(
            state,
            change,
            WriteIntent(properties={**carried(to), ROLLED_BACK_TO: str(to.id)}, identity=identity, consumed=consumed),
            schema,
        )
    except CommitOutcomeUnknownError:
        raise  # the snapshot may be there, and then it names the copies
    except StorageError as error:
        remove_files(target)
        if error.missing and not _is_kept(state, to):
            raise SnapshotNotFound(f"Snapshot {to.id} of table {state.name} expired meanwhile.") from None
        raise
    except TableStoreError:
        remove_files(target)
        raise


def _is_kept(state: TableState, to: Snapshot) -> bool:
    return state.snapshots.exists(to.id) or any(one.id == to.id for one in state.tags.all().values())


def _rolled_back_to(snapshot: Snapshot) -> int | None:
    """The snapshot whose rows this one has, None when it was not made by rolling back."""
    found = (snapshot.properties or {}).get(ROLLED_BACK_TO, "")
    return int(found) if found.isdigit() else None


def restored_schema(schemas: SchemaStore, current: TableSchema, to: Snapshot) -> TableSchema:
    """The schema of the new snapshot: the current one, unless the files of the restored snapshot do not fit it.

    They do not fit when the table was replaced, or its number of buckets was changed, after that snapshot.
    """
    past = schemas.load(to.schema_id)
    same_table = schemas.descends(current.id, past.id) or _in_other_buckets(current, past)
    buckets = past.core_options.bucket
    if same_table:
        loose = _as_loose(current, past, [schemas.load(one) for one in schemas.list_ids()])
        if buckets == current.core_options.bucket:
            return loose
        past = replace(loose, options={**loose.options, "bucket": str(buckets)})
    return replace(
        past,
        id=schemas.list_ids()[-1] + 1,
        highest_field_id=max(past.highest_field_id, current.highest_field_id),
        replaces=str(current.id),
        base=None,
    )


def _as_loose(current: TableSchema, past: TableSchema, known: Sequence[TableSchema]) -> TableSchema:
    """The current schema, in which columns that could be null in the past may be null again, without the CHECK
    constraints that the past rows were not held to."""
    fields = current.fields
    for path in forbidden_nulls(past, current, [one for one in known if one.id < past.id]):
        fields = retyped(fields, path, lambda data_type: data_type.as_nullable(True))
    kept = set(check_constraints(past.options)) & set(check_constraints(current.options))
    options = {**without_checks(current.options), **check_options(kept)}
    if fields == current.fields and options == dict(current.options):
        return current
    return replace(current, id=known[-1].id + 1, fields=fields, options=options, replaces=str(current.id), base=None)


def _in_other_buckets(current: TableSchema, past: TableSchema) -> bool:
    """Whether a schema holds the same columns as a past one, which rescaling put into other buckets, or which has
    other partition columns for new rows.

    A replaced table has columns with other ids.
    """
    ids = {one.id for one in past.fields}
    layout = current.partition_layouts.get(len(past.partition_keys) + past.partition_fill, ())
    same_layout = layout_of(layout) == layout_of(past.partition_fields)
    return current.primary_keys == past.primary_keys and same_layout and any(one.id in ids for one in current.fields)


def _of_others(index: Sequence[IndexEntry]) -> set[str]:
    """Index files of kinds that this engine does not write."""
    return {e.file_name for e in index if e.index_type not in (HASH, DELETION_VECTORS)}


def _restored_vectors(
    target: WriteTarget, state: TableState, to: Snapshot, names: Mapping[str, str]
) -> tuple[IndexEntry, ...]:
    """The deletion vectors of a snapshot, written anew; `names` are the new names of the files that are copies."""
    written = []
    for number, (bucket_id, deletions) in enumerate(deletions_of(state, to).items()):
        found = zip(deletions, read_positions_of(target.io, deletions.values()), strict=True)
        vectors = {names.get(name, name): positions for name, positions in found}
        name = target.paths.new_index_file_name(target.write_id, f"v{number}")
        written.append(write_vectors(target, bucket_id, name, vectors))
    return tuple(written)


def _vectors(index: Sequence[IndexEntry]) -> set[str]:
    return {e.file_name for e in index if e.index_type == DELETION_VECTORS}


def _index_change(
    target: WriteTarget,
    past: TableSchema,
    wanted: Sequence[IndexEntry],
    there: set[str],
    vectors: tuple[IndexEntry, ...],
) -> IndexChange:
    """Index files as they were under a past schema: those that still exist, copies of the others, and deletion vectors
    that were written anew."""
    stays = [e for e in wanted if e.file_name in there]
    copies = []
    for number, entry in enumerate(e for e in wanted if e.file_name not in there):
        name = target.paths.new_index_file_name(target.write_id, f"r{number}")
        copy = replace(entry, file_name=name, external_path=None)
        _copy(target, index_path(target.paths, past, entry), index_path(target.paths, target.schema, copy))
        copies.append(copy)
    return IndexChange((*copies, *vectors), restores=(*stays, *copies, *vectors))


def _copies(target: WriteTarget, entries: Sequence[ManifestEntry]) -> list[ManifestEntry]:
    """Copies of files under new names, as ADD entries."""
    files = EntryPaths(target.paths, target.schema)
    found = []
    for number, entry in enumerate(entries):
        file = entry.file
        extension = file.file_name.partition(".")[2] or "parquet"
        name = target.paths.new_data_file_name(
            target.write_id,
            f"r{number}",
            prefix=target.schema.core_options.data_file_prefix,
            extension=extension,
        )
        # Side files of other programs only make reading faster.
        copy = replace(entry, file=replace(file, file_name=name, extra_files=(), external_path=None))
        _copy(target, files.data_file(entry), files.data_file(copy))
        found.append(copy)
    return found


def _copy(target: WriteTarget, source: str, path: str) -> None:
    try:
        with target.io.open_input(source) as file, target.io.open_output(path) as out:
            while chunk := file.read(_CHUNK):
                out.write(chunk)
    except OSError as error:
        raise StorageError.of(path, error) from error
