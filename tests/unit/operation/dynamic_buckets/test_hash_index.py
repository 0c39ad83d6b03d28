"""Tables with dynamic buckets without Spark: where keys go, and what the index of others says."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from support.dynamic_buckets import COLUMNS, DYNAMIC, buckets
from support.invariants import check_invariants
from support.tables import DELETE, arrow_rows, by_key, compact, make_table, read, rows, write

from tablestore_engine.errors import OptionError, SchemaError, UserError
from tablestore_engine.metadata.manifest_encoding.index_manifest import IndexEntry
from tablestore_engine.storage.metadata_files.hash_index_file import write_hashes


@pytest.fixture
def table(catalog):
    return make_table(catalog, COLUMNS, ["id"], options={"bucket": "-1", "dynamic-bucket.target-row-num": "4"})


def test_known_keys_stay_and_new_ones_fill_small_buckets_first(table):
    write(table, rows(range(6), "a"))
    assert buckets(table) == {0: 4, 1: 2}
    before = table.latest_snapshot().index_manifest
    write(table, rows(range(6), "b"))
    assert table.latest_snapshot().index_manifest == before, "known keys leave the index as it is"
    write(table, rows(range(4, 11), "c"))
    assert buckets(table) == {0: 4, 1: 4, 2: 3}
    assert {e.total_buckets for e in table.live_files()} == {-1}
    found = by_key(table)
    assert {i: row["v"] for i, row in found.items()} == {
        **dict.fromkeys(range(4), "b"),
        **dict.fromkeys(range(4, 11), "c"),
    }
    check_invariants(table)


def test_deleted_keys_keep_their_bucket(table):
    write(table, rows(range(4), "a"))
    write(table, rows(range(4), None), [DELETE] * 4)
    assert read(table) == []
    compact(table)
    assert table.live_files() == []
    write(table, rows([1, 9], "b"))
    assert buckets(table) == {0: 4, 1: 1}
    assert set(by_key(table)) == {1, 9}
    check_invariants(table)


def test_the_number_of_buckets_has_a_bound(catalog):
    table = make_table(catalog, COLUMNS, ["id"], options={**DYNAMIC, "dynamic-bucket.max-buckets": "2"})
    write(table, rows(range(20), "a"))
    assert buckets(table) == {0: 10, 1: 10}
    check_invariants(table)


def test_partitions_have_buckets_of_their_own(catalog):
    columns = {"dt": "DATE", "hr": "INT", **COLUMNS}
    table = make_table(catalog, columns, ["dt", "hr", "id"], ["dt", "hr"], DYNAMIC)

    days = [date(2024, 1, 1), date(2024, 1, 2)]
    made = [{"dt": d, "hr": h, "id": i, "v": "a"} for d in days for h in (1, 2) for i in range(5)]
    write(table, made)
    assert sorted((e.partition, e.bucket) for e in table.index_files()) == sorted(
        (p, b) for p in {e.partition for e in table.live_files()} for b in (0, 1)
    )
    write(table, made[:7])
    assert len(read(table)) == len(made)
    check_invariants(table)


def test_a_key_may_not_be_a_bucket_key(catalog):
    with pytest.raises(OptionError, match="bucket-key"):
        make_table(catalog, COLUMNS, ["id"], options={**DYNAMIC, "bucket-key": "id"})


def test_table_write_and_statistics(table):
    table.write(arrow_rows(table.schema, rows(range(9), "a")))
    assert table.statistics().buckets == 3
    table.write(arrow_rows(table.schema, rows(range(3, 12), "b")))
    assert len(by_key(table)) == 12
    check_invariants(table)


def with_index(table, change):
    """A commit that changes nothing but the index files, as another writer left them."""
    snapshot = table.latest_snapshot()
    name = table.manifests.write_index(change(table.index_files()))
    made = replace(snapshot, id=snapshot.id + 1, index_manifest=name, uuid="x", commit_identifier=snapshot.id)
    assert table.snapshot_store.try_create(made)


def test_a_bucket_without_an_index_is_indexed_from_its_keys(table):
    write(table, rows(range(6), "a"))
    write(table, rows([1, 2], "b"))
    with_index(table, lambda entries: [e for e in entries if e.bucket == 1])
    write(table, rows([0, 4, 6], "c"))
    assert buckets(table) == {0: 4, 1: 3}
    assert {i: r["v"] for i, r in by_key(table).items()} == {
        0: "c",
        1: "b",
        2: "b",
        3: "a",
        4: "c",
        5: "a",
        6: "c",
    }
    check_invariants(table)


def test_an_index_next_to_the_data(catalog):
    table = make_table(catalog, COLUMNS, ["id"], options={**DYNAMIC, "index-file-in-data-file-dir": "true"})
    write(table, rows(range(6), "a"))
    write(table, rows(range(3, 9), "b"))
    assert not os.path.exists(table.paths.index_dir)
    assert len(by_key(table)) == 9
    check_invariants(table)


def test_an_index_elsewhere(table, tmp_path):
    write(table, rows(range(4), "a"))
    (entry,) = table.index_files()
    elsewhere = str(tmp_path / "elsewhere")
    hashes = np.frombuffer(table.io.read(table.paths.index_file(entry.file_name)), ">i4")[::-1]
    write_hashes(table.io, elsewhere, hashes)
    with_index(table, lambda entries: [replace(e, external_path=elsewhere) for e in entries])
    write(table, rows(range(6), "b"))
    assert buckets(table) == {0: 4, 1: 2}
    assert {r["v"] for r in read(table)} == {"b"}


def test_a_key_without_the_partition_needs_dynamic_buckets(catalog):
    columns = {"p": "INT", **COLUMNS}
    with pytest.raises(SchemaError, match=r"must contain all partition columns.*'bucket' = '-1'"):
        make_table(catalog, columns, ["id"], ["p"], {"bucket": "4"})
    with pytest.raises(OptionError, match=r"sequence\.field"):
        make_table(catalog, columns, ["id"], ["p"], {"bucket": "-1", "sequence.field": "v"})
    with pytest.raises(SchemaError, match="partition itself"):
        make_table(catalog, {"q": "INT", **columns}, ["p"], ["p", "q"], {"bucket": "-1"})
    table = make_table(catalog, columns, ["id"], ["p"])
    assert table.schema.core_options.bucket == -1
    assert table.schema.crosses_partitions
    assert not table.schema.has_hash_index

    with pytest.raises(UserError, match="without Spark"):
        table.write(arrow_rows(table.schema, [{"p": 1, "id": 1, "v": "a"}]))


def test_entries_are_compared_by_what_this_engine_uses():
    assert IndexEntry(b"", 0, "x", "f", 1, 1, global_index={"a": 1}) == IndexEntry(b"", 0, "x", "f", 1, 1)
