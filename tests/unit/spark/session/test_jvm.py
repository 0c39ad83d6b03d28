"""What a session asks its JVM for once only."""

from __future__ import annotations

from py4j.java_gateway import JavaPackage, JVMView
from py4j.protocol import REFLECTION_COMMAND_NAME

from tablestore_engine.spark.session.jvm import remember_classes

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
