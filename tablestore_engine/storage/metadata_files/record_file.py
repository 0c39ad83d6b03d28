"""A small file that holds one record, as JSON mostly."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

from tablestore_engine.errors import CorruptMetadataError, StorageError
from tablestore_engine.storage.file_io import FileIO

T = TypeVar("T")


def read_record(io: FileIO, path: str, parse: Callable[[bytes], T]) -> T | None:
    """The record in a file; None when there is no file.

    Raises:
        CorruptMetadataError: it is no such record, which `parse` says by a ValueError, KeyError, TypeError or
            AttributeError.
        StorageError: the file cannot be read.
    """
    try:
        data = io.read(path)
    except StorageError as error:
        if error.missing:
            return None
        raise
    try:
        return parse(data)
    except KeyError as error:
        raise CorruptMetadataError(path, f"{error} is missing") from None
    except UnicodeDecodeError:
        raise CorruptMetadataError(path, "its bytes are no text") from None
    except json.JSONDecodeError as error:
        raise CorruptMetadataError(path, f"it is no JSON, from line {error.lineno}, column {error.colno} on") from None
    except ValueError as error:
        raise CorruptMetadataError(path, str(error)) from None
    except (TypeError, AttributeError) as error:
        own = str(error) if str(error).startswith("it ") else "its JSON has another shape"  # not Python's words
        raise CorruptMetadataError(path, own) from None
