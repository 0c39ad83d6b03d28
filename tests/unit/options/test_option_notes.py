"""Notes on options without an effect: here at all, in a table that lacks what they need, or because unknown."""

from __future__ import annotations

import pytest

from tablestore_engine.options import OPTIONS, MergeOptions, notes_of
from tablestore_engine.options.declarations import needs
from tablestore_engine.options.option_type import (
    BOOLEAN,
    BY_LEVEL,
    COLUMNS,
    DURATION,
    FILE_NAME,
    FLOAT,
    INT,
    MEMORY,
    TEXT,
)
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type

COLUMN_TYPES = [("id", parse_type("INT NOT NULL"), None), ("v", parse_type("STRING"), None)]
VALUES = {
    INT: "7",
    FLOAT: "0.7",
    MEMORY: "7 mb",
    DURATION: "7 min",
    TEXT: "UTC+1",
    FILE_NAME: "mine-",
    COLUMNS: "v",
    BY_LEVEL: "0:gzip",
}


def table(options=None, keys=(), partitions=()):
    return create_schema(COLUMN_TYPES, keys, partitions, options or {})


PLAIN, KEYED, PARTITIONED = table(), table(keys=("id",)), table(partitions=("v",))
DYNAMIC = table({"bucket": "-1"}, ("id",))
MARKED = table({"deletion-vectors.enabled": "true"})
# A key that crosses partitions is found by reading, not by an index.
CROSSING = table({"bucket": "-1"}, ("id",), ("v",))


def with_tags(mode):
    return table({"tag.automatic-creation": mode})


def producing(producer):
    return table({"changelog-producer": producer}, ("id",))


LOGGED = table({"log.system": "kafka", "log.kafka.bootstrap.servers": "localhost:1"})
SNAPPY, AVRO = table({"file.compression": "snappy"}), table({"file.format": "avro"})
# Tables in which a need is met, and tables in which it is not.
TABLES = {
    needs.KEY: ([KEYED, DYNAMIC], [PLAIN, PARTITIONED]),
    needs.KEY_OR_RETRACTIONS: (
        [PLAIN, KEYED, table({"retractions": "refuse", "merge-engine": "tablestore-count"})],
        [table({"retractions": "refuse"})],
    ),
    needs.NO_KEY: ([PLAIN], [KEYED]),
    needs.DYNAMIC_BUCKETS: ([DYNAMIC], [PLAIN, KEYED]),
    needs.INDEX_FILES: ([DYNAMIC, MARKED], [PLAIN, KEYED, CROSSING]),
    needs.VECTORS: ([MARKED, table({"deletion-vectors.enabled": "true"}, ("id",))], [PLAIN, KEYED]),
    needs.MARKED_ROWS: ([MARKED], [PLAIN, table({"deletion-vectors.enabled": "true"}, ("id",))]),
    needs.PARTITIONS: ([PARTITIONED], [PLAIN, KEYED]),
    needs.ZSTD: (
        [
            PLAIN,
            table({"file.compression": "lz4", "file.compression.per.level": "1:zstd"}, ("id",)),
            table({"file.compression": "lz4", "file.format.per.level": "1:avro"}, ("id",)),
            table({"file.compression": "brotli", "file.format": "orc"}),
            table({"file.compression": "brotli"}),
        ],
        [
            SNAPPY,
            table({"file.compression": "lz4", "file.compression.per.level": "1:zstd"}),
            table({"file.compression": "lz4"}),
            table({"file.compression": "lz4", "file.format": "orc"}),
            table({"file.compression": "gzip", "file.format": "avro"}),
        ],
    ),
    needs.BLOCKS: (
        [PLAIN, table({"file.format": "avro", "file.format.per.level": "5:orc"}, ("id",))],
        [AVRO, table({"file.format": "avro", "file.format.per.level": "5:orc"})],
    ),
    needs.INDEXED_COLUMNS: ([table({"file-index.bitmap.columns": "v"})], [PLAIN]),
    needs.SEQUENCE: ([table({"sequence.field": "v"}, ("id",))], [KEYED]),
    MergeOptions.default_aggregate_function.needs: ([table({"merge-engine": "aggregation"}, ("id",))], [PLAIN, KEYED]),
    needs.CHANGELOG: ([producing("input"), producing("lookup")], [PLAIN, KEYED]),
    needs.CHANGELOG_OR_LOG: ([producing("input"), LOGGED], [PLAIN, KEYED]),
    needs.COMPARED_CHANGELOG: ([producing("lookup"), producing("full-compaction")], [KEYED, producing("input")]),
    needs.ROWS_LEFT_OUT: (
        [producing("lookup"), producing("full-compaction")],
        [
            KEYED,
            producing("input"),
            table({"changelog-producer": "lookup", "changelog-producer.row-deduplicate": "false"}, ("id",)),
        ],
    ),
    needs.LOOKUP: ([producing("lookup")], [KEYED, producing("full-compaction")]),
    needs.LOG: ([LOGGED], [PLAIN, KEYED]),
    needs.SCHEDULE: ([table({"compaction.schedule.enabled": "true"})], [PLAIN]),
    needs.AUTOMATIC_TAGS: ([with_tags("batch"), with_tags("watermark")], [PLAIN]),
    needs.TAGS_OF_PERIODS: ([with_tags("process-time"), with_tags("watermark")], [PLAIN, with_tags("batch")]),
    needs.TAGS_BY_CLOCK: ([with_tags("process-time"), with_tags("batch")], [PLAIN, with_tags("watermark")]),
    needs.TAGS_BY_WATERMARK: ([with_tags("watermark")], [PLAIN, with_tags("process-time")]),
    needs.TAGS_OF_BATCHES: ([with_tags("batch")], [PLAIN, with_tags("process-time")]),
}


def other_value(option):
    """A text that means something else than the default; None where there is none."""
    if option.type is BOOLEAN:
        return str(not option.default).lower()
    if option.choices:
        return next((one for one in option.choices if option.parse(one) != option.default), None)
    return VALUES[option.type]


NEEDING = [one for one in OPTIONS if one.needs is not None and other_value(one) is not None]


def test_notes_say_what_has_no_effect():
    assert notes_of({"bucket": "4", "comment": "x", "write-only": "true"}, KEYED) == ()
    assert notes_of({"lookup.async": "true"}, KEYED) == (
        "Option 'lookup.async' is kept for other engines, without effect here.",
    )
    assert notes_of({"lookup.async": "true", "sink.parallelism": "2", "team": "a", "delta.x": "b"}, KEYED) == (
        "Options 'lookup.async', 'sink.parallelism' are kept for other engines, without effect here.",
        "Properties 'team', 'delta.x' are no table options; kept without effect.",
    )


def test_a_note_names_what_a_short_word_may_mean():
    """Such a word may be the user's own, so that it is no error."""
    (note,) = notes_of({"csvo.v": "1", "onwer": "me", "org.team": "x"}, KEYED)
    assert note.startswith("Properties 'csvo.v', 'onwer', 'org.team' are no table options; kept without effect. ")
    assert note.endswith("Did you mean 'csv.v' instead of 'csvo.v', 'owner' instead of 'onwer'?")


@pytest.mark.parametrize("option", NEEDING, ids=lambda one: one.key)
def test_a_table_that_lacks_what_an_option_needs_says_so(option):
    key, value = option.key.replace("*", "v"), other_value(option)
    met, unmet = TABLES[option.needs]
    for one in met:
        assert notes_of({key: value}, one) == ()
    for one in unmet:
        assert notes_of({key: value}, one) == (f"Option '{key}' has no effect {option.needs.otherwise}.",)


def test_rows_that_wait_are_said():
    alone = {"write-only": "true"}
    both = {**alone, "deletion-vectors.enabled": "true"}
    (note,) = notes_of(alone, table(both, ("id",)))
    assert note.startswith("With 'write-only' and deletion vectors, new rows can be read when")
    assert notes_of(both, table(both)) == ()
    assert notes_of(alone, table(alone, ("id",))) == ()


def test_options_of_one_need_are_one_note():
    options = {"num-levels": "7", "retractions": "refuse", "data-file.thin-mode": "true", "log.retention": "1 d"}
    assert notes_of(options, PLAIN) == (
        "Options 'num-levels', 'data-file.thin-mode' have no effect without a primary key.",
        "Option 'log.retention' has no effect without 'log.system' = 'kafka'.",
    )
    assert notes_of({**options, "log.retention": "1 d"}, KEYED)[0] == (
        "Option 'retractions' has no effect with a primary key."
    )


def test_a_default_that_is_written_out_needs_no_note():
    assert notes_of({"data-file.thin-mode": "false", "sequence.field.sort-order": "ascending"}, PLAIN) == ()
