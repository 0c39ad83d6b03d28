"""Tables that Java Paimon made with options that few set: we read them as Java does, with and without conditions on
every column, and continue them; or the option is refused by its name, and nothing is lost.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from support.interop.compare import assert_same
from support.interop.filters import check_filters, check_spark_filters
from support.interop.java_paimon import multiset_of
from support.interop.ours import OurTable
from support.interop.random_values import random_rows

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.types.types import parse_type

pytestmark = pytest.mark.spark

COLUMNS = {
    "id": "BIGINT", "day": "INT", "n": "INT", "text": "STRING", "amount": "DECIMAL(12, 2)", "wide": "DECIMAL(30, 5)",
    "at": "TIMESTAMP(3)", "moment": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "due": "DATE", "ok": "BOOLEAN", "code": "VARCHAR(10)",  # noqa: E501
    "ratio": "DOUBLE", "raw": "BYTES",
}  # fmt: skip
OURS = {name: parse_type(kind) for name, kind in COLUMNS.items()}
STATS = {
    "default": {},
    "none": {"metadata.stats-mode": "none"},
    "counts": {"metadata.stats-mode": "counts"},
    "short": {"metadata.stats-mode": "truncate(1)"},
    "full": {"metadata.stats-mode": "full"},
    "sparse": {"metadata.stats-mode": "none", "fields.text.stats-mode": "full", "fields.n.stats-mode": "counts"},
    "sparse_stored": {"metadata.stats-mode": "none", "fields.n.stats-mode": "full", "metadata.stats-dense-store": "false"},  # noqa: E501
    "first_columns": {"metadata.stats-keep-first-n-columns": "3"},
    "by_level": {"metadata.stats-mode.per.level": "0:none"},
}  # fmt: skip
FILES = {
    "snappy": {"file.compression": "snappy"},
    "lz4": {"file.compression": "lz4"},
    "gzip": {"file.compression": "gzip"},
    "others_codec": {"manifest.compression": "bzip2", "file.compression": "lz4_raw"},
    "uncompressed": {"file.compression": "uncompressed"},
    "levels": {"file.compression.per.level": "0:lz4,1:snappy", "file.compression.zstd-level": "9"},
    "named": {"data-file.prefix": "odd-", "file.suffix.include.compression": "true"},
    "thin": {"data-file.thin-mode": "true"},
    "small": {"target-file-size": "1 kb", "file.block-size": "1 kb"},
    "plain": {"parquet.enable.dictionary": "false", "file-reader-async-threshold": "1 b"},
    "indexed": {
        "file-index.bloom-filter.columns": "text,n", "file-index.bitmap.columns": "day",
        "file-index.in-manifest-threshold": "1 b",
    },
    "indexed_inside": {"file-index.bitmap.columns": "text,due", "file-index.in-manifest-threshold": "1 mb"},
    "manifests": {
        "manifest.compression": "deflate", "manifest.merge-min-count": "2", "manifest.delete-file-drop-stats": "true",
        "manifest.full-compaction-threshold-size": "1 b",
    },
    "orc": {"file.format": "orc"},
    "avro": {"file.format": "avro"},
    "formats_of_levels": {"file.format": "orc", "file.format.per.level": "0:avro,1:parquet"},
    "many_manifests": {"manifest.target-file-size": "1 kb", "manifest.compression": "null"},
}  # fmt: skip
MERGING = {
    "newest": {},
    "sequences": {"sequence.field": "n,at"},
    "descending": {"sequence.field": "due", "sequence.field.sort-order": "descending"},
    "ignored_deletes": {"ignore-delete": "true", "write-only": "true"},
    "several_runs": {"write-only": "true"},
    "few_levels": {"num-sorted-run.compaction-trigger": "2", "num-levels": "2"},
    "eager": {"compaction.force-up-level-0": "true"},
    "part_of_the_key": {"bucket": "3", "bucket-key": "id"},
}


def _in_turn(first, *others, shift=0):
    """The cases of `first`, each with one of every other group in turn, so that few tables have all options.

    Which meets which changes with `shift`.
    """
    cases = {}
    for at, (name, options) in enumerate(first.items(), shift):
        more = [list(group.items())[at % len(group)] for group in others]
        cases["-".join((name, *(one for one, _ in more)))] = {
            **options, **{key: value for _, group in more for key, value in group.items()}
        }  # fmt: skip
    return cases


KEYED = _in_turn(FILES, STATS, MERGING)
_WITHOUT_KEY = {name: options for name, options in FILES.items() if name != "thin"}
PLAIN = _in_turn(_WITHOUT_KEY, STATS, shift=3)
BUCKETED = {
    name: {"bucket": "2", "bucket-key": "id", **options}
    for name, options in _in_turn(_WITHOUT_KEY, STATS, shift=6).items()
}
APPEND = {
    **{f"plain-{name}": options for name, options in PLAIN.items()},
    **{f"bucketed-{name}": options for name, options in BUCKETED.items()},
}
READ_ONLY = {
    "merge_on_read": ({"deletion-vectors.merge-on-read": "true"}, "deletion-vectors.merge-on-read"),
}
REFUSED = {
    "remainder": ({"bucket-function.type": "mod"}, "bucket-function.type"),
    "hive": ({"bucket-function.type": "hive"}, "bucket-function.type"),
    "directory": ({"data-file.path-directory": "inside"}, "data-file.path-directory"),
    "expiring": (
        {"record-level.expire-time": "1 d", "record-level.time-field": "n"}, "record-level.expire-time|record-level.time-field",  # noqa: E501
    ),
    "snapshot": ({"scan.snapshot-id": "1"}, "scan.snapshot-id"),
}  # fmt: skip


@pytest.fixture
def all_agree(java_reads, spark_store):
    """Java, the engine without Spark and with it find the same rows, and the engine those that conditions ask for."""

    def check(table: OurTable, *, spark=False, filters=False, most=None):
        own = java_reads(table)
        if spark:
            assert_same(spark_store.read(table.name.split(".")[1]).toArrow(), own, "Spark")
        if filters:
            check_filters(table, own)
            check_spark_filters(spark_store, table, own, most)
        return own

    return check


@pytest.mark.parametrize("case", KEYED)
def test_keyed(java, made, all_agree, case):
    rng = Random(case)
    table, more = made({"bucket": "2", **KEYED[case]}, key=["day", "id"], partition=["day"])

    def rows(count):
        return [{**row, "day": row["id"] % 2} for row in random_rows(rng, more.table.schema, count)]

    path = table.table.path
    for _ in range(3):
        more.overwrite(rows(40))
        java.ask("copy", path, more.table.path)
        all_agree(table)
    more.overwrite(rows(6))
    java.ask("delete", path, more.table.path)
    all_agree(table)
    table.write(rows(30))
    all_agree(table, spark=True)
    if "ignore-delete" not in KEYED[case]:
        table.delete(rows(5))
    own = all_agree(table)
    java.ask("compact", path, "write-only=false")
    assert_same(all_agree(table), own, "after Java's compaction")
    table.write(rows(20))
    before = table.read()
    table.compact(full=True)
    assert_same(all_agree(table), before, "after our compaction")
    more.overwrite(rows(30))
    java.ask("copy", path, more.table.path)
    all_agree(table, spark=True, filters=True, most=6)
    java.ask("expire", path, "1")
    all_agree(table)
    assert java.ask("orphans", path) == "0", "we left nothing behind, and Java knows all that there is"


@pytest.mark.parametrize("case", APPEND)
def test_tables_without_a_key(java, made, all_agree, case):
    rng = Random(case)
    table, more = made(APPEND[case], partition=["day"])

    def rows(count):
        return [{**row, "day": row["id"] % 2} for row in random_rows(rng, more.table.schema, count)]

    path = table.table.path
    for _ in range(3):
        more.overwrite(rows(40))
        java.ask("copy", path, more.table.path)
    all_agree(table)
    table.write(rows(30))
    own = all_agree(table, spark=True)
    table.compact(full=True)
    assert_same(all_agree(table), own, "after our compaction")
    more.overwrite(rows(30))
    java.ask("copy", path, more.table.path)
    all_agree(table, filters=True, most=12)


@pytest.mark.parametrize("case", READ_ONLY)
def test_tables_with_read_only_options_are_read_but_not_written(java, made, all_agree, spark_store, case):
    options, named = READ_ONLY[case]
    rng = Random(case)
    table, more = made({"bucket": "1", **options}, key=["id"])
    path, name = table.table.path, table.name.split(".")[1]
    for _ in range(3):
        more.overwrite(random_rows(rng, more.table.schema, 30))
        java.ask("copy", path, more.table.path)
        all_agree(table)
    before = table.table.latest_snapshot()
    for write in (
        lambda: table.write(random_rows(rng, more.table.schema, 3)),
        lambda: table.table.write(table.read()),
        lambda: table.compact(full=True),
        lambda: table.table.roll_back(1),
        lambda: spark_store.sql(f"DELETE FROM {name} WHERE id > 0"),
        lambda: spark_store.sql(f"INSERT INTO {name} SELECT * FROM {name}"),
    ):
        with pytest.raises(OptionError, match=f"'{named}' = '[^']*' is not supported"):
            write()
    assert table.table.latest_snapshot() == before
    # What only removes is done, and Java goes on from there.
    spark_store.sql(f"TRUNCATE TABLE {name}")
    assert all_agree(table).num_rows == 0
    more.overwrite(random_rows(rng, more.table.schema, 30))
    java.ask("copy", path, more.table.path)
    assert all_agree(table).num_rows == 30
    java.ask("compact", path)
    all_agree(table)
    java.ask("expire", path, "1")
    all_agree(table)


@pytest.mark.parametrize("case", REFUSED)
def test_tables_with_unsupported_options_are_refused(java, made, spark_store, case):
    options, named = REFUSED[case]
    rng = Random(case)
    table, more = made({"bucket": "2", **options}, key=["id"])
    path, name = table.table.path, table.name.split(".")[1]
    more.overwrite(random_rows(rng, more.table.schema, 30))
    java.ask("copy", path, more.table.path)
    found = java.read(path)
    for verb in (
        table.read,
        lambda: table.write(random_rows(rng, more.table.schema, 3)),
        lambda: spark_store.sql(f"SELECT * FROM {name} WHERE id = 1").collect(),
        lambda: spark_store.sql(f"INSERT INTO {name} SELECT * FROM {name}_more"),
    ):
        with pytest.raises(OptionError, match=f"'({named})' = '[^']*' is not supported"):
            verb()
    # One may still see what it is.
    assert [row[0] for row in spark_store.sql(f"DESCRIBE {name}").collect()] == list(COLUMNS)
    assert len(spark_store.sql(f"DESCRIBE EXTENDED {name}").collect()) > len(COLUMNS)
    assert java.read(path) == found


def test_row_ids_are_never_given_twice(java, made, all_agree, spark_store):
    """What removes rows of a table whose rows have ids leaves the number at which the next ones begin."""
    table, more = made({"row-tracking.enabled": "true"}, partition=["day"])
    rng = Random(1)
    path, name = table.table.path, table.name.split(".")[1]
    more.overwrite([{**row, "day": i % 2} for i, row in enumerate(random_rows(rng, more.table.schema, 20))])
    java.ask("copy", path, more.table.path)
    all_agree(table)
    with pytest.raises(OptionError, match=r"'row-tracking\.enabled' = 'true' is not supported"):
        table.write([{"id": 1}])
    spark_store.sql(f"ALTER TABLE {name} DROP PARTITION (day = 1)")
    spark_store.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS")
    assert all_agree(table).num_rows == 10
    java.ask("copy", path, more.table.path)
    assert all_agree(table).num_rows == 30
    ranges = sorted((e.file.first_row_id, e.file.row_count) for e in table.table.live_files())
    assert ranges[0][0] is not None
    assert all(a + n <= b for (a, n), (b, _) in pairwise(ranges)), ranges


def test_files_that_lie_elsewhere(java, made, all_agree, tmp_path):
    options = {
        "bucket": "1",
        "data-file.external-paths": f"file://{tmp_path}/out",
        "data-file.external-paths.strategy": "round-robin",
    }
    table, more = made(options, key=["id"])
    rng = Random(1)
    path = table.table.path
    for _ in range(3):
        more.overwrite(random_rows(rng, more.table.schema, 30))
        java.ask("copy", path, more.table.path)
        all_agree(table)
    assert all(e.file.external_path for e in table.table.live_files())
    with pytest.raises(OptionError, match=r"'data-file\.external-paths' = '[^']*' is not supported"):
        table.write([{"id": 1}])
    # Without the option the files stay where they are, and so do the rows.
    java.ask("alter", path, "unset", "data-file.external-paths")
    java.ask("alter", path, "unset", "data-file.external-paths.strategy")
    all_agree(table)
    table.write(random_rows(rng, more.table.schema, 30))
    all_agree(table)
    table.compact(full=True)
    all_agree(table)
    table.write(random_rows(rng, more.table.schema, 5))
    java.ask("expire", path, "1")
    all_agree(table)
    assert not list(tmp_path.rglob("*.parquet")), "what no snapshot needs any more went"


def test_the_format_of_files_is_theirs(java, made, all_agree):
    """Other tools may change `file.format` whenever they like: what counts is what a file is."""
    table, more = made({"bucket": "1", "write-only": "true"}, key=["id"])
    rng = Random(1)
    path = table.table.path
    more.overwrite(random_rows(rng, more.table.schema, 30))
    java.ask("copy", path, more.table.path)
    before = all_agree(table)
    java.ask("alter", path, "set", "file.format", "orc")
    more.overwrite(random_rows(rng, more.table.schema, 10))
    java.ask("copy", path, more.table.path)
    java.ask("alter", path, "set", "file.format", "avro")
    all_agree(table)
    table.write(random_rows(rng, more.table.schema, 10))
    assert {e.file.format for e in table.table.live_files()} == {"parquet", "orc", "avro"}
    all_agree(table)
    assert table.read(1).num_rows == before.num_rows
    table.compact(full=True)
    assert {e.file.format for e in table.table.live_files()} == {"avro"}
    all_agree(table)


def test_deletes_that_came_before_they_were_ignored(java, made, all_agree):
    """Java then shows the rows again that deletes had removed, as long as the files hold them."""
    table, more = made({"bucket": "1", "write-only": "true"}, key=["id"])
    path = table.table.path
    more.overwrite(random_rows(Random(1), more.table.schema, 10))
    java.ask("copy", path, more.table.path)
    java.ask("delete", path, more.table.path)
    assert all_agree(table).num_rows == 0
    java.ask("alter", path, "set", "ignore-delete", "true")
    assert len(java.read(path)[1]) == 10
    with pytest.raises(OptionError, match="'ignore-delete' = 'true' is not supported for deletes that are stored"):
        table.read()
    java.ask("alter", path, "set", "write-only", "false")
    java.ask("compact", path)
    assert all_agree(table).num_rows == 10


def test_rows_that_wait_for_their_bucket(java, made, all_agree):
    """With `bucket` = -2 nobody sees rows before they have one."""
    table, more = made({"bucket": "-2"}, key=["id"])
    path = table.table.path
    more.overwrite(random_rows(Random(1), more.table.schema, 10))
    java.ask("copy", path, more.table.path)
    assert len(table.table.live_files()) == 1
    assert all_agree(table).num_rows == 0
    assert table.table.statistics().row_count == 0
    with pytest.raises(OptionError, match="'bucket' = '-2' is not supported for writing"):
        table.write([{"id": 1}])
    assert multiset_of(table.read(), table.table.schema) == java.read(path)[1]


def _known(group, *names):
    return {name: group[name] for name in names}


OLD = _in_turn(
    _known(STATS, "none", "counts", "short", "full"),
    {**_known(FILES, "snappy", "lz4", "small"), "zstd": {}},
    _known(MERGING, "sequences", "ignored_deletes", "several_runs", "few_levels"),
)


@pytest.mark.parametrize("case", OLD)
def test_tables_of_the_old_version_are_read_and_written(old_java, java, catalog, all_agree, name, case):
    rng = Random(case)
    catalog.create_database("db", if_not_exists=True)
    path = f"{catalog.warehouse}/db.db/{name}"
    old_java.create(path, COLUMNS, key=["day", "id"], partition=["day"], options={"bucket": "2", **OLD[case]})
    table, more = OurTable(catalog, "db", name), OurTable.create(catalog, f"{name}_more", OURS)

    def rows(count):
        return [{**row, "day": row["id"] % 2} for row in random_rows(rng, more.table.schema, count)]

    for verb, count in (("copy", 40), ("copy", 40), ("delete", 6), ("copy", 20)):
        more.overwrite(rows(count))
        old_java.ask(verb, path, more.table.path)
        all_agree(table)
    table.write(rows(30))
    own = all_agree(table)
    java.ask("compact", path, "write-only=false")
    assert_same(all_agree(table), own, "after Java's compaction")
    table.write(rows(20))
    table.compact(full=True)
    all_agree(table)
