"""One file, one record: no file is no record, and a damaged one is an error that names the file."""

from __future__ import annotations

import json

import pytest

from tablestore_engine.errors import CorruptMetadataError, StorageError
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files.record_file import read_record


def number_in(text):
    return int(json.loads(text)["number"])


def test_a_record(tmp_path):
    path = str(tmp_path / "one")
    assert read_record(LocalFileIO(), path, number_in) is None
    LocalFileIO().write(path, b'{"number": 7}')
    assert read_record(LocalFileIO(), path, number_in) == 7


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{}", "'number' is missing"),
        (b"", "it is no JSON, from line 1, column 1 on"),
        (b'{"number": 1 2}', "it is no JSON, from line 1, column 14 on"),
        (b"\xff\xfe\xff", "its bytes are no text"),
        (b"[1]", "its JSON has another shape"),
        (b'{"number": "x"}', "invalid"),
    ],
)
def test_a_damaged_record(tmp_path, text, reason):
    path = str(tmp_path / "one")
    LocalFileIO().write(path, text)
    with pytest.raises(CorruptMetadataError, match=reason) as caught:
        read_record(LocalFileIO(), path, number_in)
    assert path in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(StorageError):
        read_record(LocalFileIO(), str(tmp_path), number_in)
