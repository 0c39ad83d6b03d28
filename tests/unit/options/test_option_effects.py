"""Effects of options that no other test sets: what differs with the option from what is there without it.

`option_effects.txt` says of every option that works which test shows its effect; a test holds that file.
"""

from __future__ import annotations

import ast
import os
import re
from dataclasses import replace
from functools import lru_cache

import pyarrow as pa
import pytest
from support.repository import ROOT
from support.tables import (
    DELETE,
    PUT,
    arrow_rows,
    by_key,
    compact,
    keyed_table,
    make_table,
    plan_states,
    read,
    reload,
    rows,
    write,
)

from tablestore_engine.errors import ExecutionError, RowKindError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.operation.compact.pick_tasks import pick_tasks
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.operation.compact.scheduled_run import run_next
from tablestore_engine.operation.expiration.partition_expire import expire_when_due
from tablestore_engine.operation.tags.automatic_tags import create_automatic_tags
from tablestore_engine.options import OPTIONS
from tablestore_engine.schema.table.predicate import Compare
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.sql.write_statements.merge_schema import merged
from tablestore_engine.storage import clock

REGISTER = os.path.join(os.path.dirname(__file__), "option_effects.txt")
DAY = 86_400_000


# -- the register --------------------------------------------------------------------------------------


def register():
    with open(REGISTER, encoding="utf-8") as file:
        return dict(line.split(maxsplit=1) for line in file.read().splitlines() if line and not line.startswith("#"))


@lru_cache
def module(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    return text, {node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}


def test_every_option_that_works_has_a_test_of_its_effect():
    wanted = {option.key for option in OPTIONS if option.supported}
    assert set(register()) == wanted, f"add or remove in option_effects.txt: {sorted(set(register()) ^ wanted)}"


@pytest.mark.parametrize(("key", "where"), register().items(), ids=lambda one: one.partition("::")[2] or one)
def test_that_test_is_there_and_sets_the_option(key, where):
    path, _, name = where.partition("::")
    text, functions = module(path)
    assert name in functions, f"{path} has no test {name}"
    spelt = re.escape(key).replace(r"\*", r"[^'\"]+?")
    assert re.search(rf"['\"]{spelt}['\"]|\b{spelt} ?=|{spelt}' ?=", text), f"{path} does not set '{key}'"


# -- what a key or a column keeps ----------------------------------------------------------------------


NESTED = {"type": "ARRAY", "element": {"type": "ROW", "fields": [
    {"id": 8, "name": "k", "type": "INT"}, {"id": 9, "name": "n", "type": "INT"}]}}  # fmt: skip


TIMED = {"type": "MAP", "key": "STRING", "value": {"type": "ROW", "fields": [
    {"id": 8, "name": "t", "type": "STRING"}, {"id": 9, "name": "u", "type": "STRING"}]}}  # fmt: skip
TIMES = [{"a": ("1", "2"), "b": ("1", "1")}, {"a": ("2", "1"), "b": None}]


@pytest.mark.parametrize(
    ("kind", "options", "values", "expected"),
    [
        ("STRING", {"fields.v.aggregate-function": "listagg"}, ["a", "b"], "a,b"),
        ("STRING", {"fields.v.aggregate-function": "listagg", "fields.v.list-agg-delimiter": ";"}, ["a", "b"], "a;b"),
        ("STRING", {"fields.v.aggregate-function": "listagg"}, ["a", "a"], "a,a"),
        ("STRING", {"fields.v.aggregate-function": "listagg", "fields.v.distinct": "true"}, ["a", "a"], "a"),
        ("INT", {"fields.v.aggregate-function": "max"}, [7, 3], 7),
        ("INT", {"fields.default-aggregate-function": "sum"}, [7, 3], 10),
        ("INT", {}, [7, 3], 3),
        (NESTED, {"fields.v.aggregate-function": "nested_update"}, [[(1, 1)], [(1, 2)]], [(1, 1), (1, 2)]),
        (
            NESTED,
            {"fields.v.aggregate-function": "nested_update", "fields.v.nested-key": "k"},
            [[(1, 1)], [(1, 2)]],
            [(1, 2)],
        ),
        (
            NESTED,
            {"fields.v.aggregate-function": "nested_update", "fields.v.count-limit": "1"},
            [[(1, 1)], [(1, 2)]],
            [(1, 1)],
        ),
        (
            NESTED,
            {
                "fields.v.aggregate-function": "nested_update",
                "fields.v.nested-key": "k",
                "fields.v.nested-key-null-strategy": "ignore",
            },
            [[(1, 1), (None, 4)], [(None, 2)]],
            [(1, 1)],
        ),
        (
            NESTED,
            {
                "fields.v.aggregate-function": "nested_update",
                "fields.v.nested-key": "k",
                "fields.v.nested-sequence-field": "n",
            },
            [[(1, 2), (2, 5)], [(1, 1), (2, 5)], [(2, 4)]],
            [(1, 2), (2, 5)],
        ),
        (
            NESTED,
            {"fields.v.aggregate-function": "nested_partial_update", "fields.v.nested-key": "k"},
            [[(1, 2), (2, 5)], [(1, None), (2, 6)]],
            [(1, 2), (2, 6)],
        ),
        (TIMED, {"fields.v.aggregate-function": "merge_map_with_keytime"}, TIMES, [("a", {"t": "1", "u": "2"})]),
        (
            TIMED,
            {"fields.v.aggregate-function": "merge_map_with_keytime", "fields.v.ts-field": "t"},
            TIMES,
            [("a", {"t": "2", "u": "1"})],
        ),
        ("INT", {"fields.v.aggregate-function": "primary-key"}, [7, None], None),
    ],
)
def test_functions_of_columns(tmp_path, kind, options, values, expected):
    table = make_table(
        tmp_path, {"id": "INT", "v": kind}, ["id"], (), {"bucket": "1", "merge-engine": "aggregation", **options}
    )
    for value in values:
        given = [{"k": k, "n": n} for k, n in value] if isinstance(value, list) else value
        if isinstance(value, dict):
            given = [(key, one and dict(zip("tu", one, strict=True))) for key, one in value.items()]
        write(table, [{"id": 1, "v": given}])
    for _ in range(2):
        found = by_key(table)[1]["v"]
        if kind is NESTED:
            found = [tuple(one.values()) for one in found]
        assert found == expected
        compact(table)


def test_a_null_in_a_nested_key_is_an_error(tmp_path):
    options = {"fields.v.aggregate-function": "nested_update", "fields.v.nested-key": "k", "bucket": "1"}
    options |= {"merge-engine": "aggregation", "fields.v.nested-key-null-strategy": "error"}
    table = make_table(tmp_path, {"id": "INT", "v": NESTED}, ["id"], (), options)
    write(table, [{"id": 1, "v": [{"k": 1, "n": None}, None]}])
    with pytest.raises(ExecutionError, match=r"column 'v' has a null in its key \(k\): \{'k': None, 'n': 7\}"):
        write(table, [{"id": 1, "v": [{"k": None, "n": 7}]}])


SUMS = {"merge-engine": "aggregation", "fields.v.aggregate-function": "max"}
PARTS = {"merge-engine": "partial-update"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (SUMS, "refused"),
        ({**SUMS, "fields.v.ignore-retract": "true"}, {1: 5}),
        ({**SUMS, "aggregation.remove-record-on-delete": "true"}, {}),
        ({**SUMS, "ignore-delete": "true"}, {1: 5}),
        (PARTS, "refused"),
        ({**PARTS, "partial-update.remove-record-on-delete": "true"}, {}),
    ],
)
def test_a_retraction_acts_as_the_option_says(tmp_path, options, expected):
    table = keyed_table(tmp_path, {"bucket": "1", **options})

    def state():
        for kind in (PUT, DELETE):
            write(table, rows([1], 5), [kind])
        return {key: row["v"] for key, row in by_key(table).items()}

    if expected == "refused":
        with pytest.raises(RowKindError):
            state()
    else:
        assert state() == expected


@pytest.mark.parametrize(("options", "left"), [({}, ["-D"]), ({"rowkind.field": "k"}, [])])
def test_a_column_says_what_each_row_does(tmp_path, options, left):
    table = make_table(tmp_path, {"id": "INT", "k": "STRING"}, ["id"], (), {"bucket": "1", **options})
    for kind in ("+I", "-D"):
        table.write(arrow_rows(table.schema, [{"id": 1, "k": kind}]))
    assert [row["k"] for row in read(table)] == left


@pytest.mark.parametrize(("options", "left"), [({}, [2]), ({"retractions": "refuse"}, None)])
def test_retractions_of_a_table_without_a_key(tmp_path, options, left):
    table = make_table(tmp_path, {"v": "INT"}, options=options)
    table.write(arrow_rows(table.schema, [{"v": 1}, {"v": 2}]))
    taken = pa.table({"v": pa.array([1], pa.int32()), ROW_KIND: ["-D"]})
    if left is None:
        with pytest.raises(RowKindError, match="'retractions' = 'refuse'"):
            table.write(taken)
    else:
        table.write(taken)
        assert [row["v"] for row in read(reload(table))] == left


# -- buckets, partitions, files ------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "buckets"), [({}, {0}), ({"dynamic-bucket.initial-buckets": "3"}, {0, 1, 2})])
def test_the_first_write_opens_so_many_buckets(tmp_path, options, buckets):
    table = keyed_table(tmp_path, {"bucket": "-1", **options})
    table.write(arrow_rows(table.schema, rows(range(9))))
    assert {entry.bucket for entry in table.live_files()} == buckets
    assert len(read(table)) == 9


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, {"01.02.2024", "20240203"}),
        ({"partition.timestamp-formatter": "yyyyMMdd"}, {"01.02.2024"}),
        ({"partition.timestamp-formatter": "dd.MM.yyyy"}, {"20240203"}),
        ({"partition.timestamp-pattern": "2024-01-01"}, set()),
        ({"partition.timestamp-pattern": "2024-01-01", "partition.expiration-max-num": "1"}, {"20240203"}),
        ({"partition.timestamp-pattern": "2024-01-01", "partition.expiration-strategy": "update-time"},
         {"01.02.2024", "20240203"}),
    ],
)  # fmt: skip
def test_partitions_expire_as_the_options_say(tmp_path, options, left):
    expiration = {"partition.expiration-time": "2 d", "partition.expiration-check-interval": "0 s"}
    table = make_table(
        tmp_path, {"d": "STRING", "v": "INT"}, (), ["d"], {"write-only": "true", **expiration, **options}
    )
    write(table, [{"d": one, "v": 1} for one in ("01.02.2024", "20240203")])
    expire_when_due(table.state, clock.now_millis())
    assert {row["d"] for row in read(table)} == left


def size_of_index(tmp_path, **options):
    """The size of the index of a file, and how many of two point queries read the file."""
    named = {f"file-index.{key.replace('_', '-')}": value for key, value in options.items() if "*" not in key}
    table = make_table(tmp_path, {"s": "STRING"}, options={"file-index.in-manifest-threshold": "1 b", **named})
    write(table, [{"s": f"text {n}"} for n in range(300)])
    (entry,) = table.live_files()
    (name,) = entry.file.extra_files
    found = [bool(table.scan(predicate=Compare("s", "=", f"text {n}")).files) for n in (7, 7_777_777)]
    return os.path.getsize(f"{table.path}/bucket-0/{name}"), found


def test_an_index_is_as_large_as_its_options_say(tmp_path):
    def size(name, kind, **more):
        options = {f"{kind}.columns": "s", **{f"{kind}.s.{key.replace('_', '-')}": text for key, text in more.items()}}
        found, read_files = size_of_index(tmp_path / name, **options)
        assert read_files == [True, False]
        return found

    # "file-index.bloom-filter.s.items", "file-index.bloom-filter.s.fpp"
    small = size("few", "bloom-filter", items="300")
    assert size("many", "bloom-filter", items="3000") > 5 * small
    assert size("sure", "bloom-filter", items="300", fpp="0.0001") > 2 * small
    # "file-index.bitmap.s.version", "file-index.bitmap.s.index-block-size"
    plain = size("bitmap", "bitmap")
    assert size("first", "bitmap", version="1") != plain
    assert size("blocks", "bitmap", index_block_size="100 b") > plain


@pytest.mark.parametrize(("name", "codec"), [("zstd", b"zstandard"), ("deflate", b"deflate"), ("null", b"null")])
def test_manifests_are_compressed(tmp_path, name, codec):
    table = keyed_table(tmp_path, {"bucket": "1", "manifest.compression": name})
    write(table, rows([1]))
    for file in os.listdir(f"{table.path}/manifest"):
        head = (ROOT / table.path / "manifest" / file).read_bytes()[:4000]
        assert head.partition(b"avro.codec")[2][1:].startswith(codec)


@pytest.mark.parametrize(
    ("options", "changelogs"),
    [({}, {"changelog-"}), ({"changelog-file.prefix": "sent-"}, {"sent-"}), ({"change-tracking": "false"}, set())],
)
def test_files_of_changes(tmp_path, options, changelogs):
    table = keyed_table(tmp_path, {"bucket": "1", "changelog-producer": "input", **options})
    table.write(arrow_rows(table.schema, rows([1])))
    names = {name.partition("-")[0] + "-" for name in os.listdir(f"{table.path}/bucket-0")}
    assert names == {"data-", *changelogs}
    assert (table.latest_snapshot().changelog_manifest_list is not None) == bool(changelogs)


# -- commits and what follows them ---------------------------------------------------------------------


def test_snapshots_expire_by_their_age_and_so_many_at_once(tmp_path):
    options = {"snapshot.num-retained.min": "1", "snapshot.time-retained": "3 h", "snapshot.expire.limit": "2"}
    table = keyed_table(tmp_path, {"bucket": "1", "write-only": "true", **options})
    for v in range(6):
        write(table, rows([1], v))
    now, hour = clock.now_millis(), 3_600_000
    assert table.expire_snapshots(now_millis=now + 2 * hour) == 0
    assert [table.expire_snapshots(now_millis=now + 4 * hour) for _ in range(4)] == [2, 2, 1, 0]


@pytest.mark.parametrize(
    ("options", "tag"), [({}, "2024-03-09"), ({"sink.watermark-time-zone": "Asia/Tokyo"}, "2024-03-10")]
)
def test_watermarks_have_a_time_zone(tmp_path, options, tag):
    table = keyed_table(tmp_path, {"bucket": "1", "tag.automatic-creation": "watermark", **options})
    made = write(table, rows([1]))
    watermark = 1_710_082_800_000  # 2024-03-10T15:00Z, midnight in Tokyo
    table.io.write(table.paths.snapshot(made.id), replace(made, watermark=watermark).to_json().encode())
    create_automatic_tags(table.state, 0)
    assert table.tags.names() == [tag]


def test_a_lease_ends(tmp_path):
    """Another process takes over a compaction whose owner says nothing for as long."""
    table = keyed_table(tmp_path, {"bucket": "1", "compaction.lease": "7 s"})
    for v in range(3):
        write(table, rows([1], v))
    schedule(table.state, "full", 1_000)
    seen = []

    def sleep(tasks):
        seen.extend(run_next(table.state, "other", lambda now=now: now) for now in (7_999, 8_001))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_next(table.state, "me", lambda: 1_000, sleep)
    assert [one is not None for one in seen] == [False, True]
    assert plan_states(table) == [PlanState.COMPLETED]


@pytest.mark.parametrize(
    ("options", "merged"),
    [
        ({}, 2),
        ({"compaction.max-size-amplification-percent": "1"}, 3),
        ({"compaction.size-ratio": "100000"}, 3),
    ],
)
def test_runs_are_merged_as_the_option_says(tmp_path, options, merged):
    trigger = {"num-sorted-run.compaction-trigger": "3", "write-only": "true", "bucket": "1"}
    table = keyed_table(tmp_path, {**trigger, **options})
    write(table, rows(range(20_000)))
    write(table, rows(range(3)))
    write(table, rows(range(500)))
    tasks = pick_tasks(table.scan().buckets, table.write_target(), table.schemas)
    assert [len(task.files) for task in tasks] == [merged]


@pytest.mark.parametrize("explicit", ["false", "true"])
def test_a_write_narrows_a_type_only_if_allowed(tmp_path, explicit):
    table = make_table(tmp_path, {"id": "INT", "v": "BIGINT"}, options={"write.merge-schema.explicit-cast": explicit})
    changed = merged(table, [("v", parse_type("INT"), None)], None)
    assert changed.schema.field("v").type == parse_type("INT" if explicit == "true" else "BIGINT")
