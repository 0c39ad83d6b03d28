"""Errors of Spark as errors of this engine: one clear message without a Java stack.

Spark's errors arrive as Python exceptions that carry Java stacks. `translated` turns them into this engine's errors:
the error condition and its first sentence for mistakes of the user, the root cause for other failures.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.errors import (
    AnalysisException,
    ParseException,
    PySparkException,
)

from tablestore_engine import errors
from tablestore_engine.errors import (
    ExecutionError,
    ParseError,
    SqlError,
    TableNotFound,
    TableStoreError,
    interrupted,
)
from tablestore_engine.spark.errors.error_hints import error_hint
from tablestore_engine.spark.errors.java_ended import java_ended
from tablestore_engine.spark.errors.own_words import own_words, reason_and_position
from tablestore_engine.spark.errors.raised_errors import raised_error
from tablestore_engine.spark.errors.unreadable_files import failed_file
from tablestore_engine.spark.session.server_client import ended_server

_MAX_MESSAGE = 2_000
_NO_STACK_LEFT = "java.lang.StackOverflowError"
_TOO_DEEP = "Spark has no stack left for the statement, which nests or joins too many parts."
_SIGNAL_HANDLER = "signal_handler"  # PySpark's own, which cancels jobs before it raises KeyboardInterrupt
_OWN_ERROR = re.compile(r"^tablestore_engine\.errors\.(\w+): ([^\n]+)", re.MULTILINE)
_RPC = re.compile(r'RPC that terminated with:\s*status = StatusCode\.(\w+)\s*details = "(.*)"')
_NO_SERVER = "UNAVAILABLE"
_NO_SERVER_HINT = (
    "If it ended, a new TableStore starts a shared server again, or connects to another one; a stream goes on where it "
    "was when it is started with its checkpoint location."
)
_CLOSED = "[NO_ACTIVE_SESSION]"  # which PySpark says of a session that was closed
_VALUE_FAILED = "INVALID_INLINE_TABLE.FAILED_SQL_EXPRESSION_EVALUATION"  # which leaves out why
_VALUE_FAILED_HINT = (
    "It divides by zero, is out of range, or casts a text to what it is not: correct it, or make null of it with "
    "try_divide, try_add or try_cast."
)
_NO_TABLE_FUNCTION = "UNRESOLVABLE_TABLE_VALUED_FUNCTION"
_CHANGES = "table_changes takes the name of a table, as a text, and one or two bounds."
_CHANGES_HINT = (
    "Write table_changes('db.t', 3) or table_changes('db.t', 3, 5). A name with blanks or signs has backticks in the"
    " text: '`odd name`'."
)
_NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")
# A Java exception's class name in front of its message, and the stack behind it.
_CLASS = re.compile(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)?:\s*")
_STACK = re.compile(r"\n\s*(?:at [\w.$<>/@-]+\(|\.\.\. \d+ more|JVM stacktrace:|Driver stacktrace:)")

_FUNCTION = re.compile(r'^ *File "<function ([^">\n]+)>", line \d+', re.MULTILINE)  # `session_functions` names it so

# Messages of py4j and of waiting threads: the reason is in their cause.
_CALLING = re.compile(r"^An error occurred while calling [^\n]*\n: ")
_CIRCULAR = re.compile(r"^\[CIRCULAR REFERENCE: (.*)\]$", re.DOTALL)  # as Java prints a cause that came before
_NOTHING_SAID = re.compile(r"(?:[\w.$]+: )?Exception thrown in awaitResult:\s*")
_CAUSE = re.compile(r"^Caused by: (.*?)(?=^\s+(?:at |\.\.\. )|\Z)", re.DOTALL | re.MULTILINE)


@contextmanager
def translated(text: str = "", locate: Callable[[int], str] | None = None) -> Iterator[None]:
    """Raise this engine's errors for Spark's. `locate` says how an offset of the text that Spark is given is shown."""
    try:
        yield
    except TableStoreError:
        raise
    except PySparkException as error:
        if isinstance(error, (AttributeError, LookupError)):
            raise  # by which Python learns that a frame has no such attribute or column
        raise _ended(error) or translate(error, text, locate) from None
    except Exception as error:
        if was_interrupted(error):
            raise KeyboardInterrupt from None
        ended = java_ended(error)
        if ended is not None:
            raise ended from None
        if type(error).__module__.startswith(("py4j", "grpc")):
            raise _ended(error) or failure(str(error) or type(error).__name__) from None
        raise


def _ended(error: Exception) -> TableStoreError | None:
    """The error of a server that has ended, if Spark failed for another reason than what the statement says.

    A Spark of this process is on no server.
    """
    here = type(error).__module__.startswith(("pyspark.errors.exceptions.captured", "py4j"))
    said = isinstance(error, (ParseException, AnalysisException))
    return None if here or said else ended_server()


def translate(error: PySparkException, text: str = "", locate: Callable[[int], str] | None = None) -> TableStoreError:
    """This engine's error for one of Spark's."""
    full = _text(error)
    if not isinstance(error, (ParseException, AnalysisException)):
        return failure(full)
    problem = reason_and_position(_without_java(full))
    shown = "" if problem.position is None or locate is None else locate(_offset(text, *problem.position))
    message = _cut(problem.reason) + (f"\n{shown}" if shown else "")
    hint = error_hint(problem.reason, text)
    condition = error.getCondition() if hasattr(error, "getCondition") else None
    if condition == _NO_TABLE_FUNCTION and "`table_changes`" in problem.reason.lower():
        return SqlError(_CHANGES + (f"\n{shown}" if shown else ""), hint=_CHANGES_HINT)
    if hint is None and condition == _VALUE_FAILED:
        hint = _VALUE_FAILED_HINT
    if isinstance(error, ParseException):
        return ParseError(message, hint=hint)
    missing = condition is not None and condition.startswith(_NOT_FOUND)
    return TableNotFound(message) if missing else SqlError(message, hint=hint)


def failure(text: str) -> TableStoreError:
    """The error for what Spark says of a query that failed while it ran."""
    lost = failed_file(text)
    if lost is not None:
        return lost
    called = _RPC.search(text)
    if called and called[1] == _NO_SERVER:
        return ExecutionError(f"The Spark Connect server does not answer: {called[2]}.", hint=_NO_SERVER_HINT)
    if text.startswith(_CLOSED):
        return ExecutionError("The session on the Spark Connect server is closed.", hint=_NO_SERVER_HINT)
    message = short_message(called[2] if called else text)
    if _NO_STACK_LEFT in message:
        return ExecutionError(_TOO_DEEP, hint="Split the statement, or keep a part of it as a table.")
    return _of_worker(text) or raised_error(message) or ExecutionError(message, hint=error_hint(message))


def _of_worker(text: str) -> TableStoreError | None:
    """The error that the engine raised in one of Spark's Python workers, by the last line of its traceback."""
    lines = _OWN_ERROR.findall(text)
    if not lines:
        return None
    name, message = lines[-1]
    kind = getattr(errors, name, ExecutionError)
    made: TableStoreError = kind.__new__(kind, message)
    TableStoreError.__init__(made, message)  # which names its file and ends with its hint
    return made


def was_interrupted(error: Exception) -> bool:
    """Whether an error came of Ctrl-C: PySpark cancels its jobs then, and py4j may fail at that."""
    if not isinstance(error, (OSError, ValueError)) and not type(error).__module__.startswith("py4j"):
        return False
    frames = traceback.walk_tb(error.__traceback__)
    return interrupted(error) or any(frame.f_code.co_name == _SIGNAL_HANDLER for frame, _ in frames)


def _text(error: PySparkException) -> str:
    text = str(error)
    if not text and hasattr(error, "getMessage"):
        text = error.getMessage() or ""
    return text


def _offset(text: str, line: int, offset: int) -> int:
    """The offset in a text of a position in one of its lines, counted from 1."""
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + offset


def short_message(text: str) -> str:
    """The message without Java's stack, class names and the frames of Spark's own Python, in the user's words."""
    return _cut(own_words(_without_java(text)))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE else text[:_MAX_MESSAGE] + " …"


def _without_java(text: str) -> str:
    text = _CALLING.sub("", text)
    stack = _STACK.search(text)
    if stack and _NOTHING_SAID.fullmatch(text[: stack.start()]):
        causes = _CAUSE.findall(text)
        text = causes[-1] if causes else text
        stack = _STACK.search(text)
    if stack:
        text = text[: stack.start()]
    cause = re.findall(r"Caused by: ([^\n]+)", text)
    if "Job aborted due to stage failure" in text:
        found = re.search(r"Lost task [^)]*\)[^:]*: (.*)", text, re.DOTALL)
        text = found[1] if found else text
    if "Traceback (most recent call last)" in text:
        lines = [line for line in text.strip().splitlines() if line.strip()]
        last = next((line for line in reversed(lines) if re.match(r"^[\w.]*(Error|Exception)\b", line)), lines[-1])
        failed = _FUNCTION.findall(text)
        text = f"Function '{failed[-1]}' failed: {last}" if failed else last
    elif cause:
        text = cause[-1]
    text = _CIRCULAR.sub(r"\1", text.strip())
    previous = None
    while previous != text:
        previous = text
        text = _CLASS.sub("", text).strip()
    return text
