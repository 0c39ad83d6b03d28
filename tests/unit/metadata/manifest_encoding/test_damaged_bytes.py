"""Reasons for damaged bytes: in plain words, without the names of Python's errors."""

from __future__ import annotations

import json
import random
import re
import struct

import pyarrow as pa
import pytest

from tablestore_engine import TableStore
from tablestore_engine.errors import TableStoreError
from tablestore_engine.metadata.manifest_encoding.damaged_bytes import reason_of

OF_PYTHON = re.compile(r"\b\w*(Error|Exception)\b|struct\.|codec|object has|decode byte")


def raised(call):
    with pytest.raises(Exception) as caught:
        call()
    return caught.value


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (b"\xff".decode, "the bytes of a text are not UTF-8"),
        (lambda: json.loads("{\n x"), "it is no JSON, from line 2, column 2 on"),
        (lambda: {}["avro.schema"], "'avro.schema' is missing"),
        (lambda: struct.unpack("<q", b"1"), "it ends in the middle, or its parts do not fit together"),
        ([].pop, "it ends in the middle, or its parts do not fit together"),
        (lambda: None.size, "its bytes are not what its format says"),
        (lambda: json.loads(3), "its bytes are not what its format says"),
    ],
)
def test_the_reason_is_in_plain_words(call, reason):
    assert reason_of(raised(call)) == reason


def test_the_words_of_a_decoder_are_kept():
    assert reason_of(ValueError("a value is\n of no type")) == "a value is of no type"
    assert reason_of(pa.ArrowInvalid("Corrupt snappy data")) == "Corrupt snappy data"
    assert reason_of(pa.ArrowNotImplementedError("No such codec")) == "No such codec"


def test_an_avro_file_with_damaged_bytes_says_so_in_plain_words(tmp_path):
    store = TableStore(tmp_path)
    store.create_table("t", {"id": "int", "s": "string"}, options={"file.format": "avro"})
    store.table("t").write(pa.table({"id": pa.array(range(100), pa.int32()), "s": ["text"] * 100}))
    (path,) = tmp_path.glob("default.db/t/bucket-0/*.avro")
    whole, chance, found = path.read_bytes(), random.Random(5), set()
    for _ in range(150):
        damaged = bytearray(whole)
        at = chance.randrange(len(whole))
        damaged[at : at + chance.choice((1, 4, 8))] = chance.choice((b"\xff" * 4, b"\0" * 8, b""))
        path.write_bytes(damaged if chance.random() < 0.7 else whole[:at])
        try:
            store.table("t").to_arrow()
        except TableStoreError as error:
            assert not OF_PYTHON.search(str(error)), str(error)
            assert "(table default.t)" in str(error)
            found.add(str(error))
    assert len(found) > 3, "the damage has several reasons"
