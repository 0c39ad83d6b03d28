"""Errors as dbt users see them: one message, never a Java or Python stack trace.

An error of the engine or of Spark becomes a `DbtDatabaseError`; a mistake in a profile or in a model's config is a
`DbtRuntimeError`. The engine's own messages are already written for users.
"""

from __future__ import annotations

import re

from dbt_common.exceptions import DbtDatabaseError, DbtRuntimeError

from tablestore_engine.errors import CommitOutcomeUnknownError, EnvironmentProblem, PrimaryKeyError, TableStoreError
from tablestore_engine.spark.errors.java_ended import java_ended

# The end of the message proper: a Java stack trace, or the tree of an unresolved plan.
_NOISE = re.compile(
    r"\n\s*JVM stacktrace:|\n\s+at [\w.$]+\(|\nTraceback \(most recent|;?\n(['+:]|\s*'?[A-Z]\w+ (\[|\())"
)


class StatementCancelledError(DbtDatabaseError):
    """The work was interrupted by the user."""


class KeyValuesError(DbtDatabaseError):
    """Rows whose primary key is null or occurs twice."""


class OutcomeUnknownError(DbtDatabaseError):
    """Storage failed while a commit was published: it may have been made."""


class SparkEndedError(OutcomeUnknownError):
    """The shared Spark server was ended while it ran a statement. `session_was_changed`: it had settings or temporary
    views that no other session has, so the statement cannot run there."""

    def __init__(self, session_was_changed: bool = False) -> None:
        super().__init__("The shared Spark server ended while it ran this statement.")
        self.session_was_changed = session_was_changed


def dbt_error(error: BaseException) -> DbtRuntimeError:
    """The dbt error with the message of `error`."""
    if isinstance(error, DbtRuntimeError):
        return error
    if isinstance(error, EnvironmentProblem):
        return DbtRuntimeError(str(error))
    if isinstance(error, TableStoreError):
        kinds = {PrimaryKeyError: KeyValuesError, CommitOutcomeUnknownError: OutcomeUnknownError}
        kind = next((ours for theirs, ours in kinds.items() if isinstance(error, theirs)), DbtDatabaseError)
        return kind(_with_retry_hint(error))
    return DbtDatabaseError(str(java_ended(error) or short_cause(error)))


def is_expected(error: BaseException) -> bool:
    """Whether the error was raised on purpose, so that its message is enough; other errors get a trace in the log."""
    return isinstance(error, (DbtRuntimeError, TableStoreError))


def _with_retry_hint(error: TableStoreError) -> str:
    text = _without_noise(str(error))
    if error.retryable and "again" not in text.lower():
        return f"{text} Running it again may succeed."
    return text


def short_cause(error: BaseException) -> str:
    """The message of any exception without stack traces and plans; the exception's name when it has no message."""
    if is_cancellation(error):
        return "The statement was cancelled."
    text = str(error).strip() or type(error).__name__
    return _without_noise(text)


def _without_noise(text: str) -> str:
    found = _NOISE.search(text)
    if found and found.start() > 0:
        text = text[: found.start()]
    return text.strip().rstrip(";")


def is_cancellation(error: BaseException) -> bool:
    """Whether Spark stopped this work because it was cancelled."""
    text = str(error)
    return "OPERATION_CANCELED" in text or "cancelled job tags" in text or "JOB_CANCELLED" in text.upper()
