"""The errors of the engine: one tree, so that a caller can catch exactly as much as it can handle.

    TableStoreError                    everything the engine raises on purpose
    ├── UserError                      the request is wrong; repeating it does not help
    │   ├── OptionError                unknown table option, or an invalid value
    │   ├── SchemaError                columns, keys or a change that do not fit the table
    │   ├── UnsupportedTypeError       a type that the table format cannot hold
    │   ├── PrimaryKeyError            null, duplicate or missing key values
    │   │   └── DuplicateKeyError      … a key occurs twice in the rows of one write
    │   ├── ConstraintError            a row violates a CHECK constraint, or does not match REPLACE WHERE
    │   ├── RowKindError               an unknown row kind, or one that the table cannot take
    │   ├── CommitIdentityError        the identity of a write is not one, or its outcome is not known
    │   ├── NegativeCountError         a row of a multiset table was removed more often than it was added
    │   ├── CastError                  a stored value cannot be cast to the present type of its column
    │   ├── SqlError                   a statement that cannot be run
    │   │   ├── ParseError             … because it cannot be parsed
    │   │   └── BrokenViewError        … because it reads a view whose own query no longer runs
    │   ├── NotFoundError              DatabaseNotFound, TableNotFound, ViewNotFound, SnapshotNotFound,
    │   │                              TagNotFound, ColumnNotFound, ChangesNotFound,
    │   │                              FunctionNotFound
    │   ├── AlreadyExistsError         DatabaseAlreadyExists, TableAlreadyExists, TagAlreadyExists,
    │   │                              FunctionAlreadyExists
    │   ├── NotAManagedTableError      a directory or relation that is not a managed table
    │   ├── DependencyError            dropping something that others read
    │   ├── ServerInUseError           a server of sessions was to be stopped while processes use it
    │   └── ReadOnlyError              writing to a view
    ├── ConflictError                  another commit won; nothing of this one is visible; **retryable**
    │   ├── CommitTimeoutError         … until the time of the commit was over
    │   └── ConsumedElsewhereError     … which used changes that this one was computed from
    ├── CommitOutcomeUnknownError      the commit may or may not be visible: remove nothing, check first
    ├── CorruptFileError               a file of a table is damaged; names the file and the table
    │   ├── CorruptMetadataError       … a metadata file
    │   └── CorruptDataError           … a data file
    ├── StorageError                   the file system refused; names the path and the reason
    ├── LogError                       the log of a table (Kafka) failed; names the brokers' reason
    │   ├── LogFencedError             … because another writer publishes to it now
    │   └── LogBehindError             … after a commit, whose changes it lacks
    ├── EnvironmentProblem             JavaNotFoundError, JavaTooOldError, LogDependencyError
    └── ExecutionError                 Spark failed while running a plan; carries the short cause

Invariants: ``str(error)`` is one readable message, hint included; ``retryable`` is true only when the
same call may succeed unchanged; every error can be pickled, because executors return them.
"""

from __future__ import annotations

import difflib
import errno
import functools
import logging
import os
import re
from collections.abc import Callable, Collection
from typing import ParamSpec, TypeVar

_LOG = logging.getLogger("tablestore_engine")
P = ParamSpec("P")
T = TypeVar("T")


def nearest(given: str, known: Collection[str]) -> str | None:
    """The known name that is most similar to the given one, ignoring case; None when none is similar."""
    by_lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(given.lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None


def did_you_mean(given: str, known: Collection[str]) -> str | None:
    """A hint at the name that was meant: the nearest one, or all; None when there is none."""
    near = nearest(given, known)
    if near is not None:
        return f"Did you mean '{near}'?"
    return f"There are: {', '.join(known)}." if known else None


def interrupted(error: BaseException | None) -> bool:
    """Whether an error came on top of Ctrl-C, while something was cleaned up."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, KeyboardInterrupt):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def in_one_message(function: Callable[P, T]) -> Callable[P, T]:
    """A public function, of whose errors Python prints the caller's steps alone. Its own are logged."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TableStoreError as error:
            _LOG.debug("%s", error, exc_info=error)
            raise error.with_traceback(None) from None

    return call


class TableStoreError(Exception):
    """Base of all errors of the engine: a message, and optionally a hint that says what to do next."""

    retryable: bool = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        return self.message + ("\n" if self.message.endswith("^") else " ") + self.hint  # ^ marks a position above


class UserError(TableStoreError):
    """The request itself is wrong; repeating it unchanged does not help."""


class OptionError(UserError):
    """A table option is unknown, has an invalid value, or cannot be changed any more."""


class SchemaError(UserError):
    """Columns, keys or a schema change do not fit the table."""


class UnsupportedTypeError(UserError):
    """A data type that the table format or this engine cannot hold."""


class PrimaryKeyError(UserError):
    """Primary key values that are null or missing; or duplicated, where that is an error."""


class ConstraintError(UserError):
    """A row for which a condition is false, of a CHECK constraint or of REPLACE WHERE; the message shows it."""


class DuplicateKeyError(PrimaryKeyError):
    """A key that occurs twice in the rows of one write, if that is an error."""


class RowKindError(UserError):
    """A row kind is unknown, or the table cannot take it."""


class CommitIdentityError(UserError):
    """The identity of a write is not one, or it is not known whether a write of this identity was applied."""


class NegativeCountError(UserError):
    """A row of a multiset table was removed more often than it was added; the message shows it."""


class CastError(UserError):
    """A stored value cannot be cast to what is now the type of its column; the message names both."""


class SqlError(UserError):
    """A SQL statement that cannot be run as it is."""


class ParseError(SqlError):
    """A SQL text that cannot be parsed."""


class BrokenViewError(SqlError):
    """A view whose query cannot be run; names that view, however many other views read it."""


class NotFoundError(UserError):
    """Something that was named does not exist."""


class DatabaseNotFound(NotFoundError):
    """The database does not exist."""


class TableNotFound(NotFoundError):
    """The table does not exist."""


class ViewNotFound(NotFoundError):
    """The view does not exist."""


class SnapshotNotFound(NotFoundError):
    """The snapshot does not exist; the message lists the existing ones."""


class FunctionNotFound(NotFoundError):
    """The function does not exist."""


class TagNotFound(NotFoundError):
    """The tag does not exist; the message lists the existing ones."""


class ColumnNotFound(NotFoundError):
    """The column does not exist."""


class ChangesNotFound(NotFoundError):
    """The changes of a table from a snapshot on are not known: it has expired, or the table was replaced since."""


class AlreadyExistsError(UserError):
    """Something of that name exists already."""


class DatabaseAlreadyExists(AlreadyExistsError):
    """A database of that name exists already."""


class TableAlreadyExists(AlreadyExistsError):
    """A table or view of that name exists already."""


class FunctionAlreadyExists(AlreadyExistsError):
    """A function of that name exists already."""


class TagAlreadyExists(AlreadyExistsError):
    """A tag of that name exists already."""


class NotAManagedTableError(UserError):
    """A directory or relation that is not a table of this engine."""


class DependencyError(UserError):
    """Dropping or changing something that others read."""


class ServerInUseError(UserError):
    """A server was asked to leave while processes use it."""


class ReadOnlyError(UserError):
    """Writing to something that can only be read, such as a view."""


class ConflictError(TableStoreError):
    """Another commit won the race and this one no longer fits. Nothing of it became visible."""

    retryable = True


class CommitTimeoutError(ConflictError):
    """Others won until the time of the commit was over: the statement is not repeated automatically."""


class ConsumedElsewhereError(ConflictError):
    """Another write used changes that this one was computed from: it is not repeated automatically."""


class CommitOutcomeUnknownError(TableStoreError):
    """The storage failed while a commit was being published: it may or may not be visible.

    A caller that catches this must not delete any file of the commit.
    """


class CorruptFileError(TableStoreError):
    """A file that cannot be decoded. ``path`` names it, ``reason`` says what is wrong."""

    kind = "file"

    def __init__(self, path: str, reason: str = "it cannot be read", *, hint: str | None = None) -> None:
        super().__init__(f"Damaged {self.kind} {_shown(path)}: {reason}.", hint=hint or _hint_for_damage(path))
        self.path = path
        self.reason = reason
        self.args = (path, reason)


class CorruptMetadataError(CorruptFileError):
    """A metadata file that cannot be decoded."""

    kind = "metadata file"


class CorruptDataError(CorruptFileError):
    """A data file that cannot be decoded."""

    kind = "data file"


class StorageError(TableStoreError):
    """The file system refused an operation. ``path`` names the file, ``reason`` is the system's own words.

    ``missing`` is true when the reason is that the file does not exist.
    """

    def __init__(self, path: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(f"Storage failure at {_shown(path)}: {reason}.", hint=hint)
        self.path = path
        self.reason = reason
        self.missing = False
        self.args = (path, reason)

    @classmethod
    def of(cls, path: str, error: OSError) -> StorageError:
        """The storage error for an ``OSError`` at ``path``, with a hint where the cause is a common one."""
        hint = None
        number = error.errno
        if number is None and os.path.isdir(path):
            number = errno.EISDIR  # which Arrow says in words only
        if isinstance(error, PermissionError):
            hint = "Check that the user of this process may read and write there."
        elif number in _LOST and (_OF_TABLE.match(path) or any(part in path for part, _ in _OF_WAREHOUSE)):
            hint = _hint_for_damage(path)
        elif number is not None:
            hint = _HINTS.get(number)
        # Arrow repeats the path in front of the system's words.
        known = number is not None and number in errno.errorcode
        reason = os.strerror(number) if known and number else error.strerror or str(error)
        made = cls(path, reason or type(error).__name__, hint=hint)
        made.missing = isinstance(error, FileNotFoundError)
        return made


# A file of a table, by its path in a warehouse. Hidden folders are those of views and of what is being built.
_OF_TABLE = re.compile(r".*/([^/=]+)\.db/([^/.][^/]*)/", re.DOTALL)
_LOST = (errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EIO, errno.ELOOP)
_NO_SPACE = "Free some space there. Tables are as their last commit left them."
_HINTS = {
    errno.EROFS: "The file system is mounted read-only: mount it for writing, or use another warehouse.",
    errno.ENOTDIR: "A file is where a folder is expected: remove it, or use another warehouse.",
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
}
_RESTORE = "Restore the file from a copy of the table."
_WAYS_OUT = (
    (
        "/bucket-",
        f"{_RESTORE} Snapshots without it can still be read (VERSION AS OF), and CALL sys.rollback returns to one.",
    ),
    ("/tag/", f"{_RESTORE} Or delete the tag, and create it again: CALL sys.delete_tag."),
    ("/statistics/", "Compute the statistics again: ANALYZE TABLE."),
    ("/consumer/", f"{_RESTORE} Or delete the consumer: CALL sys.clear_consumers."),
)
_OF_WAREHOUSE = (
    ("/.views/", "Restore the file from a copy, or create the view again: CREATE OR REPLACE VIEW."),
    ("/.functions/", "Restore the file from a copy, or create the function again: CREATE OR REPLACE FUNCTION."),
)


def table_of_file(path: str) -> tuple[str, str] | None:
    """The folder of the table that a file belongs to, and the table's name; None for a file of no table."""
    found = _OF_TABLE.match(path)
    return (found[0], f"{found[1]}.{found[2]}") if found else None


def _shown(path: str) -> str:
    """A path, and the table that the file belongs to."""
    found = table_of_file(path)
    return f"{path} (table {found[1]})" if found else path


def _hint_for_damage(path: str) -> str:
    """The hint for a file that is damaged or lost."""
    if not _OF_TABLE.match(path):
        return next((hint for part, hint in _OF_WAREHOUSE if part in path), "Restore the file from a copy.")
    return next((hint for part, hint in _WAYS_OUT if part in path), _RESTORE)


class LogError(TableStoreError):
    """The log of a table could not be read or written. ``code`` is the client's name of the reason."""

    code: str = ""


class LogFencedError(LogError):
    """Another writer publishes to the same log now. Nothing of this one's transaction is seen."""


class LogBehindError(LogError):
    """A commit succeeded, and its changes are not in the log (`log.on-failure` = fail)."""


class EnvironmentProblem(TableStoreError):
    """Something outside of the engine is missing or too old on this machine."""


class JavaNotFoundError(EnvironmentProblem):
    """No Java runtime was found."""


class JavaTooOldError(EnvironmentProblem):
    """The Java runtime is older than Spark needs."""


class LogDependencyError(EnvironmentProblem):
    """The package that talks to Kafka is not installed."""


class ExecutionError(TableStoreError):
    """Spark failed while it ran a plan; the message carries the short cause."""
