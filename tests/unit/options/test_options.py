"""Options: every key once, clear refusals, and tolerance for tables that others wrote."""

from __future__ import annotations

import copy
import os
import pickle
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.errors import OptionError
from tablestore_engine.options import (
    DECLARED,
    OPTIONS,
    CoreOptions,
    LayoutOptions,
    MergeOptions,
    find_option,
    parse_duration,
    parse_memory,
    spellings,
    validate,
)
from tablestore_engine.options.all_options import ATTRIBUTES
from tablestore_engine.options.option import Derived, Effect
from tablestore_engine.options.option_type import FLOAT, INT

MB = 1 << 20


def refused(mapping, **more):
    with pytest.raises(OptionError) as caught:
        validate(mapping, **more)
    return str(caught.value)


def test_every_key_is_declared_once():
    keys = [key for option in OPTIONS for key in option.keys]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("option", OPTIONS, ids=lambda one: one.key)
def test_declarations_are_consistent(option):
    assert option.description.endswith(".")
    if option.default is not None and not isinstance(option.default, Derived):
        values = set(option.default if isinstance(option.default, tuple) else [option.default])
        assert not option.choices or values <= set(option.choices)
        assert option.accepted is None or values <= set(option.accepted)
    assert option.acts_on(option.default)
    assert not option.supported or option in DECLARED.values()
    # An exact key is never taken for a pattern.
    assert option.is_pattern or find_option(option.key) is option


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("128 mb", 128 * MB),
        ("1gb", 1 << 30),
        ("64 KB", 1 << 16),
        ("7", 7),
        ("3 bytes", 3),
        ("2 mebibytes", 2 * MB),
    ],
)
def test_memory_sizes(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("1 h", 3_600_000),
        ("10 s", 10_000),
        ("5min", 300_000),
        ("250", 250),
        ("2 days", 172_800_000),
        ("1500 us", 1),
    ],
)
def test_durations(text, millis):
    assert parse_duration(text) == millis


@pytest.mark.parametrize("text", ["", "mb", "-1 mb", "1.5 gb", "3 apples"])
def test_bad_sizes_and_durations(text):
    with pytest.raises(ValueError, match="expected"):
        parse_memory(text)
    with pytest.raises(ValueError, match="expected"):
        parse_duration(text)


@given(st.integers(0, 2**40))
def test_plain_numbers_are_bytes(number):
    assert parse_memory(str(number)) == number


def test_defaults_depend_on_the_key():
    keyed, append = CoreOptions.parse({}, keyed=True), CoreOptions.parse({})
    assert keyed.target_file_size == 128 * MB
    assert append.target_file_size == 256 * MB
    assert (keyed.num_sorted_runs_compaction_trigger, keyed.num_levels) == (5, 6)
    assert keyed.merge_engine == "deduplicate"


def test_derived_defaults_follow_the_trigger():
    assert CoreOptions.parse({"num-sorted-run.compaction-trigger": "3"}).num_levels == 4
    assert CoreOptions.parse({"num-sorted-run.compaction-trigger": "3", "num-levels": "9"}).num_levels == 9


def test_values_are_parsed():
    options = CoreOptions.parse(
        {
            "bucket": "4",
            "bucket-key": "a, b",
            "sequence.field": "t",
            "sequence.field.sort-order": "Descending",
            "write-only": "TRUE",
            "commit.timeout": "1 min",
            "fields.a.b.stats-mode": "none",
            "metadata.stats-mode": "truncate(8)",
        },
        keyed=True,
    )
    assert options.bucket == 4
    assert options.bucket_key == ("a", "b")
    assert options.sequence_field == ("t",)
    assert options.sequence_field_descending
    assert options.write_only
    assert options.commit_timeout_millis == 60_000
    assert options.stats_mode("a.b") == "none"
    assert options.stats_mode("c") == "truncate(8)"


def test_parsed_options_are_a_frozen_value():
    given = {"bucket": "4", "fields.a.stats-mode": "none", "num-levels": "9", "from.the.future": "1"}
    options = CoreOptions.parse(given, strict=False, keyed=True)
    for same in (pickle.loads(pickle.dumps(options)), copy.deepcopy(options), copy.copy(options)):
        assert (same, same.raw, hash(same)) == (options, given, hash(options))
    # Values count, not how they are spelt or whether they were left out.
    assert CoreOptions.parse({"bucket": " 04", "write-only": "false"}) == CoreOptions.parse({"bucket": "4"})
    assert CoreOptions.parse({"write.compaction-skip": "true"}) == CoreOptions.parse({"write-only": "true"})
    assert CoreOptions.parse({"snapshot.expire.clean-empty-directories": "true"}).snapshot_clean_empty_directories
    for other in ({}, {"bucket": "5"}, {"fields.a.stats-mode": "full"}):
        assert CoreOptions.parse({**given, **other}, strict=False) != options
    for change in (lambda: setattr(options, "bucket", 5), lambda: delattr(options, "bucket")):
        with pytest.raises(FrozenInstanceError):
            change()
    assert options.bucket == 4


def test_an_attribute_of_a_group_is_the_declaration():
    assert LayoutOptions.bucket is find_option("bucket")
    assert MergeOptions.column_distinct is find_option("fields.v.distinct")
    assert [DECLARED[name] for name in ("bucket", "column_distinct")] == [
        LayoutOptions.bucket,
        MergeOptions.column_distinct,
    ]


def test_values_of_single_columns_are_found_by_column():
    options = CoreOptions.parse(
        {"fields.a.distinct": "true", "fields.b.c.distinct": "false", "fields.s,t.sequence-group": "x, y",
         "fields.v.function": "sum", "fields.w.aggregate-function": "max"}, strict=False
    )  # fmt: skip
    assert options.column_distinct == {"a": True, "b.c": False}
    assert options.column_sequence_groups == {"s,t": ("x", "y")}
    assert options.column_aggregate_functions == {"v": "sum", "w": "max"}
    assert options.column_nested_keys == {}


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("bukcet", "bucket"),
        ("target_file_size", "target-file-size"),
        ("commit.max-retry", "commit.max-retries"),
        ("fields.x.agregate-function", "fields.x.aggregate-function"),
        ("fields.a.b.stats-mod", "fields.a.b.stats-mode"),
        ("file-index.bloom-filter.colums", "file-index.bloom-filter.columns"),
        ("file-index.bloom-filter.x.fp", "file-index.bloom-filter.x.fpp"),
        ("tag.default-time-retainned", "tag.default-time-retained"),
        ("lookup.asynk", "lookup.async"),
        ("parquet.enable.dictionery", "parquet.enable.dictionary"),
        ("snapshottime-retained", "snapshot.time-retained"),
        ("parquet.compresion", "parquet.compression"),
        ("orc.compres", "orc.compress"),
        ("orc.stripe.sise", "orc.stripe.size"),
        ("avro.codek", "avro.codec"),
        ("partial-update.remove-record-on-delet", "partial-update.remove-record-on-delete"),
        ("lgo.system", "log.system"),
        ("tga.creation-period", "tag.creation-period"),
        ("log.kafak.security.protocol", "log.kafka.security.protocol"),
        ("log.kafka.bootstrap.server", "log.kafka.bootstrap.servers"),
        ("avor.v", "avro.v"),
        ("jsno.a.b", "json.a.b"),
        ("parqet.from.later", "parquet.from.later"),
        ("aggregtion.v", "aggregation.v"),
        ("partial_updte.v", "partial-update.v"),
    ],
)
def test_unknown_key_says_what_was_meant(key, near):
    assert f"Did you mean '{near}'?" in refused({key: "1"})


@pytest.mark.parametrize(
    "key", ["owner", "owners", "team", "delta.x", "delta.autoOptimize.optimizeWrite", "parquet.block.size", "tag.owner",
            "parquet.bloom.filter.enabled#v", "orc.row.index.stride", "orc.from.a.later.version",
            "write.metadata.previous-versions-max", "commit.retry.num-retries", "qqqqqqqq", "from.the.future",
            "log.kafka.security.protocol", "test.x", "logs.level", "orcs.x", "jsonb.x", "csvo.v", "onwer", "org.x"]
)  # fmt: skip
def test_a_property_that_is_no_misspelt_option_is_kept(key):
    validate({key: "1"})


def test_unknown_options_of_a_column_are_refused():
    assert "Options of a column, fields.<column>.…: aggregate-function, " in refused({"fields.v.frob": "1"})


def test_no_option_of_paimon_is_missing():
    """The names of all options of Paimon 1.4, of its core and its connectors to Flink, Spark and Hive."""
    with open(os.path.join(os.path.dirname(__file__), "paimon_1_4_options.txt"), encoding="utf-8") as file:
        names = file.read().split()
    assert len(names) > 400
    # A family such as `orc.*` is no entry.
    missing = [n for n in names if (found := find_option(n.replace("#", "*"))) is None or found.key.endswith(".*")]
    assert not missing


@pytest.mark.parametrize(
    "mapping",
    [
        {"deletion-vectors.merge-on-read": "true"},
        {"row-tracking.enabled": "true"},
        {"partial-update.unknown": "a"},
        {"bucket": "-2"},
    ],
    ids=str,
)
def test_unsupported_options_that_change_answers_are_refused(mapping):
    (key,) = mapping
    message = refused(mapping, keyed=True)
    assert f"'{key}'" in message
    assert "not supported" in message


def test_the_refusal_of_an_option_of_another_engine_has_its_reason():
    others = [one for one in OPTIONS if not one.supported and one.effect is not Effect.NONE]
    assert [one.key for one in others if not one.ignored] == []
    said = refused({"record-level.expire-time": "1 d"})
    assert "not supported by this engine: if it were ignored, expired rows would be in the answers." in said


@pytest.mark.parametrize(
    "mapping",
    [
        {"merge-engine": "deduplicate"},
        {"deletion-vectors.enabled": "false"},
        {"changelog-producer": "none"},
        {"scan.parallelism": "3"},
        {"snapshot.expire.execution-mode": "async"},
        {"bucket": "-1"},
        {"parquet.enable.dictionary": "false"},
    ],
    ids=str,
)
def test_options_that_change_no_answer_are_accepted(mapping):
    validate(mapping)


def test_numbers_of_buckets():
    validate({"bucket": "-1", "dynamic-bucket.max-buckets": "4"}, keyed=True)
    assert "'bucket' = '4'" in refused({"bucket": "-2"}, keyed=True)
    assert "at least 1" in refused({"bucket": "0"})
    for text, words in (("-1", "at least 0"), ("7", "at most 1"), ("nan", "at least 0")):
        assert words in refused({"compaction.delete-ratio-threshold": text})
    for text in ("0", "0.35", "1"):
        validate({"compaction.delete-ratio-threshold": text})


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("bucket", "many"),
        ("write-only", "yes"),
        ("target-file-size", "12 q"),
        ("metadata.stats-mode", "some"),
        ("metadata.stats-mode", "truncate(0)"),
        ("ctas.atomicity", "maybe"),
        ("file.compression.zstd-level", "0"),
        ("file.compression.zstd-level", "23"),
        ("data-file.prefix", "_hidden"),
        ("data-file.prefix", "a/b"),
        ("data-file.prefix", "all*"),
    ],
)
def test_bad_values_name_key_and_value(key, text):
    message = refused({key: text})
    assert f"'{key}' cannot be '{text}'" in message
    assert "expected" in message


FOREIGN = {
    "merge-engine": "aggregation",
    "from.the.future": "1",
    "bucket": "-1",
    "deletion-vectors.merge-on-read": "odd",
}


def test_tables_of_others_can_be_parsed():
    options = CoreOptions.parse(FOREIGN, strict=False, keyed=True)
    assert options.merge_engine == "aggregation"
    assert options.bucket == -1
    assert CoreOptions.parse({"merge-engine": "tablestore-count"}, strict=False).merge_engine == "tablestore-count"


def test_bad_values_of_what_is_acted_on_are_never_guessed():
    with pytest.raises(OptionError, match="bucket"):
        CoreOptions.parse({"bucket": "x"}, strict=False)


NUMBERS = [one for one in OPTIONS if one.type in (INT, FLOAT) and not one.is_pattern]
LIMITS = [(one, limit) for one in NUMBERS for limit in ("minimum", "maximum") if getattr(one, limit) is not None]


@pytest.mark.parametrize(("option", "limit"), LIMITS, ids=lambda one: getattr(one, "key", one))
def test_a_number_out_of_its_range_is_refused_here_and_the_nearest_one_in_tables_of_others(option, limit):
    nearest = getattr(option, limit)
    beyond = {option.key: str(nearest + (1 if limit == "maximum" else -1))}
    assert "is expected" in refused(beyond)
    options = CoreOptions.parse(beyond, strict=False)
    assert getattr(options, ATTRIBUTES[option.key]) == nearest
    options.check_readable()


@pytest.mark.parametrize(
    ("mapping", "keyed", "read", "write"),
    [
        ({}, True, True, True),
        ({"bucket": "4"}, True, True, True),
        ({}, False, True, True),
        ({"bucket": "4", "deletion-vectors.merge-on-read": "true"}, True, True, False),
        ({"bucket": "4", "merge-engine": "tablestore-count"}, True, False, False),
        ({"bucket": "4", "scan.mode": "latest"}, True, True, True),
    ],
    ids=str,
)
def test_existing_tables_are_refused_only_where_it_matters(mapping, keyed, read, write):
    options = CoreOptions.parse(mapping, strict=False, keyed=keyed)
    for allowed, check in ((read, options.check_readable), (write, options.check_writable)):
        if allowed:
            check()
        else:
            with pytest.raises(OptionError):
                check()


def test_option_types_have_distinct_names():
    types = {one.type for one in OPTIONS}
    assert len({one.name for one in types}) == len(types)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("fields.v.function", ("fields.v.aggregate-function", "fields.v.function")),
        ("fields.a.b.aggregate-function", ("fields.a.b.aggregate-function", "fields.a.b.function")),
        ("partial-update.ignore-delete", find_option("ignore-delete").keys),
        ("fields.g,h.sequence-group", ("fields.g,h.sequence-group",)),
        ("write-buffer-size", ("write-buffer-size",)),
        ("qqq", ("qqq",)),
    ],
)
def test_all_spellings_of_a_key(key, expected):
    assert spellings(key) == expected
