"""Spark's failures in one line."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, ParseException, PySparkAttributeError, PySparkException

from tablestore_engine.errors import (
    EnvironmentProblem,
    ExecutionError,
    ParseError,
    RowKindError,
    SchemaError,
    SqlError,
    TableNotFound,
)
from tablestore_engine.schema.table.row_kind import KINDS_HINT
from tablestore_engine.spark.errors import translate_errors
from tablestore_engine.spark.errors.translate_errors import failure, short_message, translate, translated


@pytest.mark.parametrize(
    ("text", "short"),
    [
        (
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012",
            "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012",
        ),
        ("java.lang.RuntimeException: own words", "own words"),
        (
            "java.sql.SQLException: No suitable driver\n\tat java.sql/java.sql.DriverManager.getDriver(X.java:2)",
            "No suitable driver",
        ),
        (
            "org.apache.spark.SparkException: java.io.IOException: disk\n\tat org.x.Y.z(Y.java:1)\n\tat a.b(C:2)",
            "disk",
        ),
        (
            (
                "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, "
                "most recent failure: Lost task 0.3 in"
                " stage 1.0 (TID 5) (127.0.0.1 executor driver): "
                "java.lang.IllegalStateException: broken\n\tat x.Y.z(Y.java:3)"
            ),
            "broken",
        ),
        (
            (
                "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
                '  File "x.py", line 1, in f\n    raise ValueError("a")\nValueError: a\n'
            ),
            "ValueError: a",
        ),
        (
            (
                "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
                '  File "x.py", line 1, in g\n  File "<function s.f>", line 3, in _function\nmy.BadError: a: b\n'
            ),
            "Function 's.f' failed: my.BadError: a: b",
        ),
        (
            (
                "An error occurred while calling o1.x.\n: java.lang.Exception: a\nCaused by: java.util.Failed: b\n"
                "Caused by: [CIRCULAR REFERENCE: org.apache.spark.SparkRuntimeException: [RAISED] no such row]"
            ),
            "[RAISED] no such row",
        ),
        ("", ""),
    ],
)
def test_short_message(text, short):
    assert short_message(text) == short


def test_long_messages_are_cut():
    assert len(short_message("x" * 10_000)) < 2_100


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ParseException("syntax"), ParseError),
        (AnalysisException("no such column"), SqlError),
        (PySparkException("job failed"), ExecutionError),
    ],
)
def test_translation(error, kind):
    found = translate(error)
    assert type(found) is kind
    with pytest.raises(kind), translated():
        raise error


def test_an_unknown_row_kind_has_the_same_message_without_spark():
    raised = "[USER_RAISED_EXCEPTION] Unknown row kind: x. y. SQLSTATE: P0001"
    found = translate(PySparkException(raised))
    assert type(found) is RowKindError
    assert str(found) == f"Unknown row kind: x. y. {KINDS_HINT}"


def test_a_statement_that_is_too_deep_for_spark():
    error = translate(PySparkException("java.lang.StackOverflowError"))
    assert (type(error), "nests" in str(error), "Split the statement" in str(error)) == (ExecutionError, True, True)


def test_a_missing_table(monkeypatch):
    error = AnalysisException("The table or view `x` cannot be found.")
    monkeypatch.setattr(error, "getCondition", lambda: "TABLE_OR_VIEW_NOT_FOUND", raising=False)
    assert type(translate(error)) is TableNotFound


def test_the_engine_s_errors_and_bugs_pass_untouched():
    with pytest.raises(SchemaError), translated():
        raise SchemaError("mine")
    with pytest.raises(ZeroDivisionError), translated():
        raise ZeroDivisionError


class Py4JNetworkError(Exception):
    """A fake of py4j's."""


Py4JNetworkError.__module__ = "py4j.protocol"


def test_ctrl_c_is_an_interrupt_also_when_py4j_fails_on_top_of_it():
    with pytest.raises(KeyboardInterrupt), translated():
        try:
            raise KeyboardInterrupt
        finally:
            raise Py4JNetworkError("Answer from Java side is empty")


def test_ctrl_c_is_an_interrupt_when_pyspark_cannot_cancel_its_jobs():
    def signal_handler():
        raise Py4JNetworkError("Answer from Java side is empty")

    with pytest.raises(KeyboardInterrupt), translated():
        signal_handler()


def test_a_lost_jvm_is_no_interrupt():
    with pytest.raises(ExecutionError, match="The Java process of Spark has ended"), translated():
        raise Py4JNetworkError("Answer from Java side is empty")


class RpcError(Exception):
    """A fake of gRPC's."""


RpcError.__module__ = "grpc"


class CapturedError(PySparkException):
    """A fake of what a Spark of this process raises, which needs a JVM."""


CapturedError.__module__ = "pyspark.errors.exceptions.captured"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RpcError("failed to connect to all addresses"), EnvironmentProblem),
        (PySparkException("Job 0 cancelled because SparkContext was shut down"), EnvironmentProblem),
        (AnalysisException("no such column"), SqlError),
        (Py4JNetworkError("Answer from Java side is empty"), ExecutionError),
        (CapturedError("[DIVIDE_BY_ZERO] Division by zero."), ExecutionError),
    ],
)
def test_failures_of_a_shared_server_that_has_ended_say_so(monkeypatch, error, kind):
    monkeypatch.setattr(translate_errors, "ended_server", lambda: EnvironmentProblem("The server was stopped."))
    with pytest.raises(kind), translated():
        raise error


def test_a_closed_session_on_a_server_says_what_to_do():
    closed = PySparkException(errorClass="NO_ACTIVE_SESSION", messageParameters={})
    message = r"session on the Spark Connect server is closed\. .*a new TableStore"
    with pytest.raises(ExecutionError, match=message), translated():
        raise closed


def test_a_missing_attribute_stays_one():
    with pytest.raises(PySparkAttributeError), translated():
        raise PySparkAttributeError("no such attribute")


@pytest.mark.parametrize(
    ("status", "details", "message"),
    [
        ("UNAVAILABLE", "failed to connect", "The Spark Connect server does not answer: failed to connect."),
        ("INTERNAL", "[DIVIDE_BY_ZERO] Division by zero.", "[DIVIDE_BY_ZERO] Division by zero."),
    ],
)
def test_errors_of_calls_over_spark_connect_are_without_the_call(status, details, message):
    text = (
        f"<_MultiThreadedRendezvous of RPC that terminated with:\n\tstatus = StatusCode.{status}\n"
        f'\tdetails = "{details}"\n\tdebug_error_string = "{status}:{details}"\n>'
    )
    found = failure(text)
    assert found.message == message
    assert ("checkpoint location" in (found.hint or "")) == (status == "UNAVAILABLE")
