"""Manifests of ours and of others read back as what was written; damage is noticed."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from pathlib import Path

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.metadata.binary_row import EMPTY_ROW, decode_row, encode_row
from tablestore_engine.metadata.manifest_encoding import avro_container
from tablestore_engine.metadata.manifest_encoding.data_file_meta import EMPTY_STATS, DataFileMeta, SimpleStats
from tablestore_engine.metadata.manifest_encoding.manifest_entry import (
    FileKind,
    ManifestEntry,
    ManifestFileMeta,
    decode_entries,
    decode_metas,
    encode_entries,
    encode_metas,
    merge_entries,
)
from tablestore_engine.schema.types.types import parse_type

GOLDEN = Path(__file__).parent / "golden"
INT = [parse_type("INT")]


def data_file(name="data-1.parquet", level=0, **more):
    key = encode_row([1], INT)
    stats = SimpleStats(key, key, (0,))
    values = {"min_sequence_number": 3, "max_sequence_number": 9, "schema_id": 0, **more}
    return DataFileMeta(name, 100, 10, key, key, stats, stats, level=level, **values)


def entry(kind, name="data-1.parquet", bucket=0, level=0, partition=EMPTY_ROW):
    return ManifestEntry(kind, partition, bucket, 4, data_file(name, level))


FULL = ManifestEntry(
    FileKind.DELETE,
    encode_row([5], INT),
    3,
    4,
    data_file(
        "data-full.parquet",
        5,
        extra_files=("x.index",),
        creation_time_millis=1_700_000_000_123,
        delete_row_count=2,
        embedded_index=b"\x01",
        file_source=1,
        value_stats_cols=("a",),
        external_path="/elsewhere/f",
        first_row_id=7,
        write_cols=("a", "b"),
    ),
)
META = ManifestFileMeta("manifest-1", 99, 2, 1, SimpleStats(b"\0", b"\1", (0, None)), 4, 0, 3, 0, 5)


@pytest.mark.parametrize("compression", ["zstd", "deflate", "snappy", "null"])
def test_round_trip_with_every_codec(compression):
    without_key = replace(data_file(), min_key=EMPTY_ROW, max_key=EMPTY_ROW, key_stats=EMPTY_STATS)
    entries = [entry(FileKind.ADD), FULL, ManifestEntry(FileKind.ADD, EMPTY_ROW, 0, -1, without_key)]
    data = encode_entries(entries, compression)
    assert decode_entries(data) == entries
    metas = [META, replace(META, min_bucket=None, max_bucket=None, min_row_id=1, max_row_id=2)]
    assert decode_metas(encode_metas(metas, compression)) == metas


@pytest.mark.parametrize("compression", ["deflate", "null"])
def test_an_independent_reader_agrees(compression):
    (record,) = fastavro.reader(io.BytesIO(encode_entries([FULL], compression)))
    assert record["_VERSION"] == 2
    assert record["_KIND"] == 1
    assert record["_FILE"]["_CREATION_TIME"].isoformat() == "2023-11-14T22:13:20.123000+00:00"
    assert record["_FILE"]["_VALUE_STATS_COLS"] == ["a"]


def test_empty_lists():
    assert decode_entries(encode_entries([])) == []
    assert decode_metas(encode_metas([])) == []


def test_reads_the_manifest_of_pypaimon():
    # Six files in the partitions 'a b:c' and 'z', three buckets, as pypaimon 2.1 wrote them (zstd).
    entries = decode_entries((GOLDEN / "manifest-pypaimon-2.1.avro").read_bytes())
    assert {one.kind for one in entries} == {FileKind.ADD}
    partitions = {decode_row(one.partition, [parse_type("STRING")]) for one in entries}
    assert partitions == {("a b:c",), ("z",)}
    assert sorted(one.bucket for one in entries) == [0, 0, 1, 1, 2, 2]
    assert {one.total_buckets for one in entries} == {3}
    first = entries[0].file
    assert (first.row_count, first.level, first.schema_id, first.file_source) == (2, 0, 0, 0)
    assert decode_row(first.min_key, [parse_type("BIGINT")]) == (0,)
    assert first.value_stats.null_counts == (0,) * 8
    assert decode_entries(encode_entries(entries)) == entries


def test_reads_the_manifest_list_of_pypaimon():
    (meta,) = decode_metas((GOLDEN / "manifest-list-pypaimon-2.1.avro").read_bytes())
    assert (meta.num_added_files, meta.num_deleted_files, meta.schema_id) == (6, 0, 0)
    assert (meta.min_bucket, meta.max_bucket, meta.min_level, meta.max_level) == (0, 2, 0, 0)
    assert decode_row(meta.partition_stats.max_values, [parse_type("STRING")]) == ("z",)


def _old_schema():
    """The manifest schema before column statistics were named: the last five fields are missing."""
    schema = {**avro_container.SCHEMAS["manifest_entry"]}
    file = {**schema["fields"][-1]["type"]}
    file["fields"] = [one for one in file["fields"] if one["name"] not in (
        "_FILE_SOURCE", "_VALUE_STATS_COLS", "_EXTERNAL_PATH", "_FIRST_ROW_ID", "_WRITE_COLS")]  # fmt: skip
    schema["fields"] = [*schema["fields"][:-1], {"name": "_FILE", "type": file}]
    return schema


def _record(entry):
    (record,) = avro_container.decode(encode_entries([entry], "null"))
    return record


@pytest.mark.parametrize("union", [False, True], ids=["record", "union"])
def test_reads_manifests_of_old_writers(union):
    schema = ["null", _old_schema()] if union else _old_schema()
    out = io.BytesIO()
    fastavro.writer(out, schema, [_record(entry(FileKind.ADD))], codec="deflate", sync_interval=1)
    assert decode_entries(out.getvalue()) == [entry(FileKind.ADD)]


def test_reads_many_blocks_and_unknown_fields():
    schema = {**avro_container.SCHEMAS["manifest_entry"]}
    schema["fields"] = [*schema["fields"], {"name": "_NEWER", "type": "string"}]
    entries = [entry(FileKind.ADD, f"data-{i}") for i in range(50)]
    out = io.BytesIO()
    fastavro.writer(out, schema, [{**_record(one), "_NEWER": "x"} for one in entries], sync_interval=200)
    assert decode_entries(out.getvalue()) == entries


@pytest.mark.parametrize("compression", ["zstd", "null"])
def test_cut_files_are_noticed(compression):
    """At every length but one: a file that ends after its header has no blocks, which is allowed."""
    whole, header = encode_entries([FULL], compression), len(encode_entries([], compression))
    for length in {*range(len(whole))} - {header}:
        with pytest.raises(ValueError, match=r"."):
            decode_entries(whole[:length])


def test_damaged_marks_are_noticed():
    """The first bytes of a file, and the sync marker behind the header and behind each block."""
    whole, header = encode_entries([FULL]), len(encode_entries([]))
    for at in (*range(4), *range(header - 16, header), *range(len(whole) - 16, len(whole))):
        with pytest.raises(ValueError, match=r"not an Avro file|do not fit together"):
            decode_entries(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1 :])


@given(st.data())
def test_damage_raises_nothing_but_value_errors(data):
    """The format has no checksums, so a changed byte of a record may be read as another value."""
    whole = encode_entries([FULL], "zstd")
    at = data.draw(st.integers(0, len(whole) - 1))
    with contextlib.suppress(ValueError):
        decode_entries(whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :])


def test_merge_cancels_added_and_deleted_files():
    old, new = entry(FileKind.ADD, "a"), entry(FileKind.ADD, "b")
    removed = replace(old, kind=FileKind.DELETE)
    assert merge_entries([old, new, removed]) == [new]
    assert merge_entries([removed, new]) == [removed, new]
    assert merge_entries([]) == []


def test_files_are_identified_by_partition_bucket_and_level():
    entries = [
        entry(FileKind.ADD, "a"),
        entry(FileKind.ADD, "a", bucket=1),
        entry(FileKind.ADD, "a", level=5),
        entry(FileKind.ADD, "a", partition=encode_row([1], INT)),
    ]
    assert merge_entries(entries) == entries
    upgraded = [entry(FileKind.ADD, "a"), entry(FileKind.DELETE, "a"), entry(FileKind.ADD, "a", level=5)]
    assert merge_entries(upgraded) == [entry(FileKind.ADD, "a", level=5)]


def test_adding_twice_is_an_error():
    with pytest.raises(ValueError, match="added twice"):
        merge_entries([entry(FileKind.ADD, "a"), entry(FileKind.ADD, "a")])


@given(st.lists(st.sampled_from("abcd"), max_size=20))
def test_merging_in_parts_equals_merging_at_once(names):
    live, entries = set(), []
    for name in names:  # each mention toggles the file, under a new name once it is removed
        kind = FileKind.DELETE if name in live else FileKind.ADD
        entries.append(entry(kind, f"{name}{len(entries) if kind == FileKind.ADD else _last(entries, name)}"))
        live ^= {name}
    expected = {one.identifier for one in merge_entries(entries)}
    for cut in range(len(entries) + 1):
        parts = merge_entries(entries[:cut]) + merge_entries(entries[cut:])
        assert {one.identifier for one in merge_entries(parts)} == expected
    assert len(expected) == len(live)


def _last(entries, name):
    return max(int(one.file.file_name[1:]) for one in entries if one.file.file_name[0] == name)


def test_upgrade_only_raises_the_level():
    file = data_file(level=0)
    assert file.upgrade(5) == replace(file, level=5)
    with pytest.raises(ValueError, match="level 5 down to 0"):
        file.upgrade(5).upgrade(0)
