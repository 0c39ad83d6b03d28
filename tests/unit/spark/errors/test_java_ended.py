"""What py4j says when the Java process is not there any more, by py4j itself."""

from __future__ import annotations

import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JError, Py4JNetworkError

from tablestore_engine.errors import ExecutionError
from tablestore_engine.spark.errors.java_ended import java_ended
from tablestore_engine.spark.errors.translate_errors import translated

ENDED = "The Java process of Spark has ended"


def test_a_connection_that_py4j_does_not_get_says_that_java_has_ended():
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=1, eager_load=False))
    with pytest.raises(ExecutionError, match=ENDED), translated():
        gateway.jvm.java.lang.System.currentTimeMillis()
    with pytest.raises(ConnectionRefusedError), translated():
        raise ConnectionRefusedError(111, "Connection refused")  # of the user's own function


@pytest.mark.parametrize(
    ("error", "ended"),
    [
        (Py4JNetworkError("Answer from Java side is empty"), True),
        (Py4JError("An error occurred while calling o845.getResult"), True),
        (Py4JError("An error occurred while calling o1.f. Trace:\nno such method"), False),
        (Py4JError("An error occurred while calling o1.f.\n: java.lang.Exception: no"), False),
        (ValueError("An error occurred while calling o845.getResult"), False),
    ],
)
def test_answers_that_say_nothing_are_of_a_java_that_has_ended(error, ended):
    assert (java_ended(error) is not None) == ended
