"""Manifests: which data files a commit added and removed; manifest lists: which manifests make up a snapshot.

Vocabulary: an *entry* adds or deletes one data file in one partition and bucket; its *identifier* is what an ADD and
a DELETE of the same file share. Invariant: folding the entries of a snapshot's manifests in order, each DELETE
removes exactly one ADD.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from tablestore_engine.metadata.manifest_encoding import avro_container, decode_records
from tablestore_engine.metadata.manifest_encoding.block_bounds import BlockBounds, note_of
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta, SimpleStats

# The format's permanent mark in every record, not a version of the fields.
_FORMAT = 2


class FileKind(IntEnum):
    """The effect of an entry on its file. The numbers are persisted."""

    ADD = 0
    DELETE = 1


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file added to or removed from a bucket. ``partition`` is a BinaryRow."""

    kind: FileKind
    partition: bytes
    bucket: int
    total_buckets: int
    file: DataFileMeta

    @property
    def identifier(self) -> Hashable:
        """Equal for the ADD and the DELETE of one file at one level."""
        one = self.file
        return (
            self.partition, self.bucket, one.level, one.file_name, one.extra_files, one.embedded_index,
            one.external_path,
        )  # fmt: skip

    @property
    def removal(self) -> ManifestEntry:
        """The DELETE of its file."""
        return replace(self, kind=FileKind.DELETE)


@dataclass(frozen=True)
class ManifestFileMeta:
    """One manifest: how many files it adds and deletes, and the bounds that let a reader skip it."""

    file_name: str
    file_size: int
    num_added_files: int
    num_deleted_files: int
    partition_stats: SimpleStats
    schema_id: int
    min_bucket: int | None = None
    max_bucket: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    min_row_id: int | None = None
    max_row_id: int | None = None

    @property
    def entry_count(self) -> int:
        """How many entries it has."""
        return self.num_added_files + self.num_deleted_files


def merge_entries(entries: Iterable[ManifestEntry]) -> list[ManifestEntry]:
    """The net effect of entries in order: an ADD and a later DELETE of the same file cancel out.

    The remaining entries keep their order: ADDs of live files, and DELETEs of files that were added before these
    entries.

    Raises:
        ValueError: a file is added twice, or added after it was deleted: no writer does that.
    """
    entries = list(entries)
    if len({one.file.file_name for one in entries}) == len(entries):
        return entries  # each is of a file of its own, as in a base without removals
    live: dict[Hashable, ManifestEntry] = {}
    for entry in entries:
        key = entry.identifier
        if entry.kind == FileKind.ADD:
            if key in live:
                raise ValueError(f"file {entry.file.file_name} is added twice")
            live[key] = entry
        elif key in live and live[key].kind == FileKind.ADD:
            del live[key]
        else:
            live[key] = entry
    return list(live.values())


def encode_entries(
    entries: Iterable[ManifestEntry], compression: str = "zstd", bounds: Sequence[BlockBounds] = ()
) -> bytes:
    """The Avro file of a manifest. ``compression``: zstd, deflate, snappy or null. ``bounds`` are those of consecutive
    entries, which become blocks of their own."""
    records = [_entry_record(one) for one in entries]
    if not bounds:
        return avro_container.encode("manifest_entry", records, compression)
    sizes = [one.entry_count for one in bounds]
    return avro_container.encode("manifest_entry", records, compression, blocks=sizes, notes=note_of(bounds))


def decode_some(data: bytes, wanted: Collection[int]) -> dict[int, list[ManifestEntry]]:
    """The entries of some blocks of a manifest that has bounds, by number. Raises ValueError on damage."""
    with avro_container.no_collection():
        found = avro_container.decode_blocks(data, wanted)
        return {number: _made(found.pop(number), _entry_of) for number in list(found)}


def decode_entries(data: bytes) -> list[ManifestEntry]:
    """The entries of a manifest, also of one that older writers made. Raises ValueError on damage."""
    return _decode(data, _entry_of)


def encode_metas(metas: Iterable[ManifestFileMeta], compression: str = "zstd") -> bytes:
    """The Avro file of a manifest list. ``compression``: zstd, deflate, snappy or null."""
    return avro_container.encode("manifest_file_meta", [_meta_record(one) for one in metas], compression)


def decode_metas(data: bytes) -> list[ManifestFileMeta]:
    """The manifests of a list, also of one that older writers made. Raises ValueError on damage."""
    return _decode(data, _meta_of)


def _decode(data: bytes, make: Any) -> list[Any]:
    with avro_container.no_collection():
        return _made(decode_records.decode(data), make)


def _made(records: Iterable[Mapping[str, Any]], make: Any) -> list[Any]:
    try:
        return [make(one) for one in records]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a record lacks or breaks the field {error}") from None


def _stats_record(stats: SimpleStats) -> dict[str, Any]:
    return {
        "_MIN_VALUES": stats.min_values,
        "_MAX_VALUES": stats.max_values,
        "_NULL_COUNTS": list(stats.null_counts),
    }


def _stats_of(record: Mapping[str, Any]) -> SimpleStats:
    return SimpleStats(record["_MIN_VALUES"], record["_MAX_VALUES"], tuple(record["_NULL_COUNTS"] or ()))


def _tuple_of(values: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _list_of(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _entry_record(entry: ManifestEntry) -> dict[str, Any]:
    one = entry.file
    return {
        "_VERSION": _FORMAT,
        "_KIND": int(entry.kind),
        "_PARTITION": entry.partition,
        "_BUCKET": entry.bucket,
        "_TOTAL_BUCKETS": entry.total_buckets,
        "_FILE": {
            "_FILE_NAME": one.file_name,
            "_FILE_SIZE": one.file_size,
            "_ROW_COUNT": one.row_count,
            "_MIN_KEY": one.min_key,
            "_MAX_KEY": one.max_key,
            "_KEY_STATS": _stats_record(one.key_stats),
            "_VALUE_STATS": _stats_record(one.value_stats),
            "_MIN_SEQUENCE_NUMBER": one.min_sequence_number,
            "_MAX_SEQUENCE_NUMBER": one.max_sequence_number,
            "_SCHEMA_ID": one.schema_id,
            "_LEVEL": one.level,
            "_EXTRA_FILES": list(one.extra_files),
            "_CREATION_TIME": one.creation_time_millis,
            "_DELETE_ROW_COUNT": one.delete_row_count,
            "_EMBEDDED_FILE_INDEX": one.embedded_index,
            "_FILE_SOURCE": one.file_source,
            "_VALUE_STATS_COLS": _list_of(one.value_stats_cols),
            "_EXTERNAL_PATH": one.external_path,
            "_FIRST_ROW_ID": one.first_row_id,
            "_WRITE_COLS": _list_of(one.write_cols),
        },
    }


def _entry_of(record: Mapping[str, Any]) -> ManifestEntry:
    one = record["_FILE"]
    get = one.get
    return ManifestEntry(
        FileKind(record["_KIND"]),
        record["_PARTITION"],
        record["_BUCKET"],
        record["_TOTAL_BUCKETS"],
        DataFileMeta(
            file_name=one["_FILE_NAME"],
            file_size=one["_FILE_SIZE"],
            row_count=one["_ROW_COUNT"],
            min_key=one["_MIN_KEY"],
            max_key=one["_MAX_KEY"],
            key_stats=_stats_of(one["_KEY_STATS"]),
            value_stats=_stats_of(one["_VALUE_STATS"]),
            min_sequence_number=one["_MIN_SEQUENCE_NUMBER"],
            max_sequence_number=one["_MAX_SEQUENCE_NUMBER"],
            schema_id=one["_SCHEMA_ID"],
            level=one["_LEVEL"],
            extra_files=tuple(one["_EXTRA_FILES"] or ()),
            creation_time_millis=get("_CREATION_TIME"),
            delete_row_count=get("_DELETE_ROW_COUNT"),
            embedded_index=get("_EMBEDDED_FILE_INDEX"),
            file_source=get("_FILE_SOURCE"),
            value_stats_cols=_tuple_of(get("_VALUE_STATS_COLS")),
            external_path=get("_EXTERNAL_PATH"),
            first_row_id=get("_FIRST_ROW_ID"),
            write_cols=_tuple_of(get("_WRITE_COLS")),
        ),
    )


def _meta_record(meta: ManifestFileMeta) -> dict[str, Any]:
    return {
        "_VERSION": _FORMAT,
        "_FILE_NAME": meta.file_name,
        "_FILE_SIZE": meta.file_size,
        "_NUM_ADDED_FILES": meta.num_added_files,
        "_NUM_DELETED_FILES": meta.num_deleted_files,
        "_PARTITION_STATS": _stats_record(meta.partition_stats),
        "_SCHEMA_ID": meta.schema_id,
        "_MIN_BUCKET": meta.min_bucket,
        "_MAX_BUCKET": meta.max_bucket,
        "_MIN_LEVEL": meta.min_level,
        "_MAX_LEVEL": meta.max_level,
        "_MIN_ROW_ID": meta.min_row_id,
        "_MAX_ROW_ID": meta.max_row_id,
    }


def _meta_of(record: Mapping[str, Any]) -> ManifestFileMeta:
    get = record.get
    return ManifestFileMeta(
        file_name=record["_FILE_NAME"],
        file_size=record["_FILE_SIZE"],
        num_added_files=record["_NUM_ADDED_FILES"],
        num_deleted_files=record["_NUM_DELETED_FILES"],
        partition_stats=_stats_of(record["_PARTITION_STATS"]),
        schema_id=record["_SCHEMA_ID"],
        min_bucket=get("_MIN_BUCKET"),
        max_bucket=get("_MAX_BUCKET"),
        min_level=get("_MIN_LEVEL"),
        max_level=get("_MAX_LEVEL"),
        min_row_id=get("_MIN_ROW_ID"),
        max_row_id=get("_MAX_ROW_ID"),
    )
