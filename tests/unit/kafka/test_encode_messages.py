"""Changed rows as messages of debezium-json."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from tablestore_engine.kafka import encode_messages
from tablestore_engine.kafka.encode_messages import messages_of, texts_as_bytes
from tablestore_engine.kafka.settings import LogSettings
from tablestore_engine.mergetree.arrow_kernels.keyed_changes import ChangelogRows
from tablestore_engine.metadata.bucket_hash import bucket_ids
from tablestore_engine.schema.types.types import DataField, parse_type

LOG = LogSettings("t", "localhost:1", primary_keys=("id",))
CHANGES = [(0, 1, "a"), (1, 2, "b"), (2, 2, "c"), (3, 3, "d"), (0, 4, "e"), (1, 5, "f"), (2, 5, "g")]


def changes_of(changes):
    kinds, ids, texts = zip(*changes, strict=True)
    rows = pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array(texts)})
    return ChangelogRows(rows, np.array(kinds, np.int8))


def rendered(log, changes=CHANGES):
    found = []
    for part in messages_of(changes_of(changes), log):
        keys = texts_as_bytes(part.keys) if part.keys is not None else [None] * len(part.values)
        found += [
            (key and json.loads(key), *(json.loads(value)[name] for name in ("op", "before", "after")))
            for key, value in zip(keys, texts_as_bytes(part.values), strict=True)
        ]
    return found


def row(number, text):
    return {"id": number, "v": text}


def test_all_sends_the_rows_before():
    assert rendered(LOG) == [
        ({"id": 1}, "c", None, row(1, "a")),
        ({"id": 2}, "u", row(2, "b"), row(2, "c")),
        ({"id": 3}, "d", row(3, "d"), None),
        ({"id": 4}, "c", None, row(4, "e")),
        ({"id": 5}, "u", row(5, "f"), row(5, "g")),
    ]


def test_upsert_sends_the_new_rows_only():
    assert rendered(replace(LOG, sends_before=False)) == [
        ({"id": 1}, "c", None, row(1, "a")),
        ({"id": 2}, "c", None, row(2, "c")),
        ({"id": 3}, "d", row(3, "d"), None),
        ({"id": 4}, "c", None, row(4, "e")),
        ({"id": 5}, "c", None, row(5, "g")),
    ]


def test_without_a_key_messages_have_none():
    assert rendered(replace(LOG, primary_keys=()))[0] == (None, "c", None, row(1, "a"))


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_the_rows_of_an_update_stay_together(monkeypatch, size):
    expected = rendered(LOG)
    monkeypatch.setattr(encode_messages, "ROWS_AT_ONCE", size)
    assert rendered(LOG) == expected
    assert rendered(replace(LOG, sends_before=False))[1] == ({"id": 2}, "c", None, row(2, "c"))


def test_few_wide_rows_are_a_part(monkeypatch):
    expected = rendered(LOG)
    monkeypatch.setattr(encode_messages, "_BYTES_AT_ONCE", 1)
    assert rendered(LOG) == expected
    assert len(list(messages_of(changes_of(CHANGES), LOG))) == 5


def test_the_partition_is_the_bucket():
    fields = (DataField(0, "id", parse_type("BIGINT")),)
    log = replace(LOG, partitions=4, bucket_fields=fields)
    changes = [(0, number, "x") for number in range(50)]
    found = np.concatenate([part.partitions for part in messages_of(changes_of(changes), log)])
    assert found.tolist() == bucket_ids([pa.array(range(50), pa.int64())], [fields[0].type], 4).tolist()
    assert set(found) == {0, 1, 2, 3}
