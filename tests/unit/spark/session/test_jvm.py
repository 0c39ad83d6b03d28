"""What a session asks its JVM for once only, and what a JVM says that does not start."""

from __future__ import annotations

import pytest
from py4j.java_gateway import JavaPackage, JVMView
from py4j.protocol import REFLECTION_COMMAND_NAME

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session.jvm import Command, remember_classes, start_jvm
from tablestore_engine.spark.session.session_archive import NO_ARCHIVE

ANSWERS = {"u": {"Functions": "ycorg.Functions", "org": "yp"}, "m": {"col": "ym", "COUNT": "yi7", "Inner": "yc"}}


class Client:
    """A JVM that has one class, and its questions."""

    converters = ()

    def __init__(self):
        self.asked = []
        self.gateway_property = self
        self.pool = None

    def send_command(self, command):
        name, kind, *rest = command.split("\n")
        assert name + "\n" == REFLECTION_COMMAND_NAME
        asked = rest[0] if kind == "u" else rest[1]
        self.asked.append(asked)
        return ANSWERS[kind][asked]


def test_classes_and_their_methods_are_asked_for_once():
    client = Client()
    view = JVMView(client, "default", id="j")
    remember_classes(view)
    for _ in range(3):
        assert view.Functions._fqn == "org.Functions"
        assert view.Functions.col.name == "col"
    assert client.asked == ["Functions", "col"]


def test_packages_and_values_of_fields_are_asked_for_again():
    client = Client()
    view = JVMView(client, "default", id="j")
    remember_classes(view)
    for _ in range(2):
        assert isinstance(view.org, JavaPackage)
        assert view.Functions.COUNT == 7
    assert client.asked == ["org", "Functions", "COUNT", "org", "COUNT"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["Invalid maximum heap size: -Xmxlots", "Error: Could not create the Java Virtual Machine."],
            "Invalid maximum heap size: -Xmxlots.",
        ),
        (
            ["Picked up JAVA_TOOL_OPTIONS: -Derror=1", 'Exception in thread "main" org.a.b.SparkException: No master'],
            "No master.",
        ),
        (
            ["Error occurred during initialization of VM", "Conflicting options."],
            "Error occurred during initialization of VM: Conflicting options.",
        ),
    ],
)
def test_a_jvm_that_does_not_start_says_why(tmp_path, lines, said):
    script, log = tmp_path / "java", tmp_path / "log"
    script.write_text("\n".join(["#!/bin/sh", *(f"echo '{line}'" for line in lines), "exit 1"]))
    script.chmod(0o700)
    with pytest.raises(EnvironmentProblem) as error:
        start_jvm([Command((str(script),), {}, NO_ARCHIVE)], {"PATH": "/usr/bin:/bin"}, str(log), lambda: None)
    assert str(error.value) == f"Spark's JVM did not start: {said} Its log: {log}."
