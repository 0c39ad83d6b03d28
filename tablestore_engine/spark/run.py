"""Running Spark plans so that failures become one clear message.

Spark's errors arrive as Python exceptions that carry Java stacks. `translated` turns them into this engine's errors:
the error condition and its first sentence for what a user did, the root cause for what went wrong underneath.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from pyspark.errors import (
    AnalysisException,
    ParseException,
    PySparkException,
)
from pyspark.sql import DataFrame

from tablestore_engine.errors import (
    ExecutionError,
    NegativeCountError,
    ParseError,
    RowKindError,
    SqlError,
    TableNotFound,
    TableStoreError,
)
from tablestore_engine.mergetree.counting import NEGATIVE, NEGATIVE_HINT
from tablestore_engine.schema.row_kind import KINDS_HINT, UNKNOWN_KIND

_MAX_MESSAGE = 2_000
_NOT_FOUND = ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")
# A Java exception's class name in front of its message, and the stack behind it.
_CLASS = re.compile(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)?:\s*")
_STACK = re.compile(r"\n\s*(?:at [\w.$<>]+\(|\.\.\. \d+ more|JVM stacktrace:|Driver stacktrace:)")


@contextmanager
def translated() -> Iterator[None]:
    """Raise this engine's errors for Spark's."""
    try:
        yield
    except TableStoreError:
        raise
    except PySparkException as error:
        raise translate(error) from None
    except Exception as error:
        if type(error).__module__.startswith(("py4j", "grpc")):
            raise ExecutionError(short_message(str(error)) or type(error).__name__) from None
        raise


def translate(error: PySparkException) -> TableStoreError:
    """This engine's error for one of Spark's."""
    message = short_message(_text(error))
    condition = error.getCondition() if hasattr(error, "getCondition") else None
    if isinstance(error, ParseException):
        return ParseError(message)
    if isinstance(error, AnalysisException):
        if condition and condition.startswith(_NOT_FOUND):
            return TableNotFound(message)
        return SqlError(message)
    if NEGATIVE in message:
        told = message[message.index(NEGATIVE) :].partition(" SQLSTATE: ")[0]
        return NegativeCountError(told, hint=NEGATIVE_HINT)
    unknown = message.find(UNKNOWN_KIND)
    end = message.find(KINDS_HINT, unknown)
    if 0 <= unknown < end:
        return RowKindError(message[unknown:end].strip(), hint=KINDS_HINT)
    return ExecutionError(message)


def _text(error: PySparkException) -> str:
    text = str(error)
    if not text and hasattr(error, "getMessage"):
        text = error.getMessage() or ""
    return text


def short_message(text: str) -> str:
    """The message without Java's stack, class names and the frames of Spark's own Python."""
    stack = _STACK.search(text)
    if stack:
        text = text[: stack.start()]
    cause = re.findall(r"Caused by: ([^\n]+)", text)
    if "Job aborted due to stage failure" in text:
        found = re.search(r"Lost task [^)]*\)[^:]*: (.*)", text, re.DOTALL)
        text = found[1] if found else text
    if "Traceback (most recent call last)" in text:
        lines = [line for line in text.strip().splitlines() if line.strip()]
        last = next(
            (line for line in reversed(lines) if re.match(r"^[\w.]*(Error|Exception)\b", line)), lines[-1]
        )
        text = last
    elif cause:
        text = cause[-1]
    text = text.strip()
    previous = None
    while previous != text:
        previous = text
        text = _CLASS.sub("", text).strip()
    return text if len(text) <= _MAX_MESSAGE else text[:_MAX_MESSAGE] + " …"


def collect_arrow(frame: DataFrame) -> pa.Table:
    """All rows of a DataFrame as an Arrow table.

    Raises:
        SqlError, ExecutionError: Spark refused or failed.
    """
    with translated():
        return frame.toArrow()
