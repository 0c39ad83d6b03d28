"""Errors as dbt users see them: one message, never a Java or Python stack.

Whatever the engine or Spark raises becomes a `DbtDatabaseError`; what a profile or a model's config got wrong
becomes a `DbtRuntimeError`. The engine's own errors already carry a message for a person.
"""

from __future__ import annotations

import re

from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from tablestore_engine.errors import EnvironmentProblem, PrimaryKeyError, TableStoreError

# Where the part for people ends: Java's stack, or the tree of an unresolved plan.
_NOISE = re.compile(
    r"\n\s*JVM stacktrace:|\n\s+at [\w.$]+\(|\nTraceback \(most recent|;?\n(['+:]|\s*'?[A-Z]\w+ (\[|\())"
)


class StatementCancelledError(DbtDatabaseError):
    """The work was interrupted by the user."""


class KeyValuesError(DbtDatabaseError):
    """Rows whose primary key is null or stands twice."""


def dbt_error(error: BaseException, sql: str | None = None) -> DbtRuntimeError:
    """The dbt error that says what `error` says.

    sql: the statement that failed; only its absence of a better message makes it matter.
    """
    if isinstance(error, DbtRuntimeError):
        return error
    if isinstance(error, EnvironmentProblem):
        return DbtRuntimeError(str(error))
    if isinstance(error, TableStoreError):
        kind = KeyValuesError if isinstance(error, PrimaryKeyError) else DbtDatabaseError
        return kind(_with_retry_hint(error))
    return DbtDatabaseError(short_cause(error))


def is_expected(error: BaseException) -> bool:
    """Whether the error was raised on purpose, so that its message says all; others deserve a trace in the log."""
    return isinstance(error, (DbtRuntimeError, TableStoreError))


def _with_retry_hint(error: TableStoreError) -> str:
    text = _without_noise(str(error))
    if error.retryable and "again" not in text.lower():
        return f"{text} Running it again may succeed."
    return text


def short_cause(error: BaseException) -> str:
    """The message of any exception without stacks and plans; the exception's name when it has no message."""
    cancelled = is_cancellation(error)
    if cancelled:
        return "The statement was cancelled."
    text = str(error).strip() or type(error).__name__
    return _without_noise(text)


def _without_noise(text: str) -> str:
    found = _NOISE.search(text)
    if found and found.start() > 0:
        text = text[: found.start()]
    return text.strip().rstrip(";")


def is_cancellation(error: BaseException) -> bool:
    """Whether Spark stopped this work because it was asked to."""
    text = str(error)
    return "OPERATION_CANCELED" in text or "cancelled job tags" in text or "JOB_CANCELLED" in text.upper()
