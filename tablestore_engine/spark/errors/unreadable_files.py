"""Which file Spark could not read, in its messages, as this engine's error.

Spark names the file in front of its reason, and the reason is at the end of a chain of Java's exceptions.
"""

from __future__ import annotations

import errno
import os
import re
from urllib.parse import unquote

from tablestore_engine.errors import CorruptDataError, StorageError, TableNotFound, table_of_file

_FILE = re.compile(r"\[FAILED_READ_FILE\.(\w+)\] Encountered error while reading file (.+?)\.(?=\s|$)")
_CAUSES = re.compile(r"^Caused by: (?:[\w$]+\.)*[\w$]+: ([^\n]+)", re.MULTILINE)
_ADDRESS = re.compile(r"file:/\S+\s*| Struct: .*")  # and Java's own text of an object
_DENIED = "(Permission denied)"  # by which Java says why it did not find a file that is there
_NOTHING = ("Exception thrown in awaitResult", "[FAILED_READ_FILE", "Job aborted")
_TYPES = re.compile(r"Data type mismatches when reading Parquet column [^\n]*?\.(?=\s|$)")


def failed_file(text: str) -> StorageError | CorruptDataError | TableNotFound | None:
    """The error for a file that is lost or damaged, or whose table is; None when a message is about something else."""
    found = _FILE.search(text)
    if found is None:
        return None
    condition, path = found[1], _local(found[2])
    if condition == "FILE_NOT_EXIST":
        if _DENIED in text:
            return StorageError.of(path, PermissionError(errno.EACCES, "Permission denied"))
        return missing_file(path)
    return CorruptDataError(path, _reason(condition, text))


def missing_file(path: str) -> StorageError | TableNotFound:
    """The error for a file that is not there: it is lost, or its table is."""
    table = table_of_file(path)
    if table is not None and not os.path.isdir(table[0]):
        return TableNotFound(
            f"Table '{table[1]}' does not exist any more: it was dropped or renamed after the temporary view or "
            "DataFrame that reads it was made.",
            hint="Make the view or the DataFrame again, on what exists now.",
        )
    return StorageError.of(path, FileNotFoundError(errno.ENOENT, "No such file or directory"))


def _reason(condition: str, text: str) -> str:
    types = _TYPES.search(text)
    if condition == "PARQUET_COLUMN_DATA_TYPE_MISMATCH" and types is not None:
        return types[0].rstrip(".")
    causes = [_ADDRESS.sub("", one).strip() for one in _CAUSES.findall(text) if not one.startswith(_NOTHING)]
    detail = f" ({causes[-1].rstrip('.')})" if causes else ""
    what = "its footer cannot be read" if condition == "CANNOT_READ_FILE_FOOTER" else "it cannot be decoded"
    return f"{what}{detail}"


def _local(path: str) -> str:
    """The path of a file that Spark names by an address."""
    if not path.startswith("file:"):
        return path
    return "/" + unquote(path[len("file:") :]).lstrip("/")
