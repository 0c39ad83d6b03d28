"""The error of a statement whose Java process has ended, of which py4j says only that it does not answer."""

from __future__ import annotations

import re
import traceback

from tablestore_engine.errors import ExecutionError

_NO_ANSWER = re.compile(r"An error occurred while calling [\w.$:]+")  # with a cause, more lines follow


def java_ended(error: BaseException) -> ExecutionError | None:
    """The error to raise for one that says that the Java process of this process's Spark has ended; None of others."""
    kind = type(error)
    if kind.__module__.startswith("py4j"):
        ended = kind.__name__ == "Py4JNetworkError" or _NO_ANSWER.fullmatch(str(error).strip()) is not None
    else:
        ended = isinstance(error, ConnectionRefusedError) and _is_of_py4j(error)
    if not ended:
        return None
    return ExecutionError(
        "The Java process of Spark has ended.",
        hint="The system may have killed it for want of memory, of which spark.driver.memory is a part. Start this "
        "program again.",
    )


def _is_of_py4j(error: BaseException) -> bool:
    frames = traceback.walk_tb(error.__traceback__)
    return any(frame.f_globals.get("__name__", "").startswith("py4j") for frame, _ in frames)
