"""By which commands a classic session would start its JVM; a fake takes them and starts none."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session import jvm, session_classic
from tablestore_engine.spark.session.java import Java
from tablestore_engine.spark.session.jvm import Command, Gateway, announced, start_jvm
from tablestore_engine.spark.session.session_config import SessionConfig

OF_THE_USER = (
    "PYSPARK_SUBMIT_ARGS", "SPARK_DIST_CLASSPATH", "SPARK_SUBMIT_OPTS", "SPARK_DAEMON_MEMORY", "SPARK_HOME",
    "SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS",
)  # fmt: skip


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def commands_of(monkeypatch, cache):
    """The commands for a wish, in the order in which they would be tried."""
    for name in OF_THE_USER:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setattr(session_classic, "_has_jvm", lambda: False)
    monkeypatch.setattr(session_classic, "find_java", lambda environ, cache: Java("/usr/bin/java", 17, "17.0.15+6"))

    def of(**wish):
        taken = []

        def take(commands, environ, log, meanwhile):
            taken.extend(commands)
            raise EnvironmentProblem("That is all.")

        monkeypatch.setattr(session_classic, "start_jvm", take)
        with pytest.raises(EnvironmentProblem, match="That is all"):
            session_classic.start_classic(
                SessionConfig(master="local[1]", cache_dir=str(cache), log_to_terminal=True, **wish)
            )
        return taken

    return of


def words_about_archives(commands):
    return [
        word
        for command in commands
        for word in command.arguments
        if "-Xshare" in word or "Archive" in word or ".jsa" in word
    ]


def test_by_default_an_archive_is_made_and_used_from_then_on(commands_of, cache):
    making, plain, _ = commands_of()
    assert making.archive.claim
    assert any(word.startswith("-XX:ArchiveClassesAtExit=") for word in making.arguments)
    assert words_about_archives([plain]) == []
    stem = making.archive.claim[: -len(".claim")]
    assert os.path.dirname(stem) == str(cache / "classes")
    with open(f"{stem}.jsa", "w") as archive, open(f"{stem}.seal", "w") as seal:
        archive.write("classes")
        seal.write("7")
    using = commands_of()[0]
    assert f"-XX:SharedArchiveFile={stem}.jsa" in using.arguments


@pytest.mark.parametrize(("given", "page"), [({}, "4m"), ({"spark.buffer.pageSize": "1m"}, "1m")])
def test_java_knows_the_size_of_a_page_too(commands_of, given, page):
    """Spark takes it from Java's properties for what it broadcasts."""
    for command in commands_of(spark_config=given):
        assert f"-Dspark.buffer.pageSize={page}" in " ".join(command.arguments)


def test_class_data_sharing_false_makes_and_uses_none(commands_of, cache):
    (plain, submit) = commands_of(class_data_sharing=False)
    assert words_about_archives([plain, submit]) == []
    assert not (cache / "classes").exists()
    assert plain.arguments == commands_of()[1].arguments  # nothing else differs


def test_class_data_sharing_false_leaves_an_archive_that_is_there_alone(commands_of, cache):
    stem = commands_of()[0].archive.claim[: -len(".claim")]
    os.unlink(f"{stem}.claim")
    with open(f"{stem}.jsa", "w") as archive, open(f"{stem}.seal", "w") as seal:
        archive.write("classes")
        seal.write("7")
    assert words_about_archives(commands_of(class_data_sharing=False)) == []
    assert len(os.listdir(cache / "classes")) == 2


@pytest.mark.parametrize("options", ["-Xshare:off", "-XX:SharedArchiveFile=/mine.jsa", "-XX:AOTCache=/mine.aot"])
def test_an_archive_of_the_users_own_goes_first(commands_of, cache, options):
    commands = commands_of(spark_config={"spark.driver.extraJavaOptions": options})
    assert all(command.archive.options == () for command in commands)
    assert not (cache / "classes").exists()


def test_only_pyspark_gets_the_address_of_the_jvm():
    """While Spark starts, dbt walks through the environment: nothing may come into it that goes away again."""
    from pyspark import java_gateway

    before = dict(os.environ)
    with pytest.raises(RuntimeError), announced(Gateway(4711, "secret", subprocess.Popen(["true"]), None)):
        environ_of_pyspark = java_gateway.os.environ
        assert (environ_of_pyspark["PYSPARK_GATEWAY_PORT"], environ_of_pyspark["PYSPARK_GATEWAY_SECRET"]) == (
            "4711",
            "secret",
        )
        assert environ_of_pyspark.items() > before.items() == dict(os.environ).items()
        assert java_gateway.os.path is os.path
        raise RuntimeError
    assert java_gateway.os is os


def test_python_works_while_each_command_starts(tmp_path):
    called = []
    with pytest.raises(EnvironmentProblem):
        start_jvm([Command(("false",), {}), Command(("false",), {})], {}, None, lambda: called.append(1))
    assert called == [1, 1]


def test_the_jvm_looks_for_data_sources_with_the_python_of_its_workers(tmp_path):
    """Not with a driver's, which in a notebook is `jupyter`."""
    written = tmp_path / "environment"
    environ = {"PYSPARK_DRIVER_PYTHON": "jupyter", "PYSPARK_PYTHON": "python3"}
    with pytest.raises(EnvironmentProblem):
        start_jvm([Command(("sh", "-c", f"/usr/bin/env > {written}; false"), {})], environ, None, lambda: None)
    names = [line.partition("=")[0] for line in written.read_text().splitlines()]
    assert "PYSPARK_PYTHON" in names
    assert "PYSPARK_DRIVER_PYTHON" not in names


def test_modules_imported_in_the_background_exist():
    assert all(importlib.util.find_spec(name) for name in jvm._OF_FIRST_STATEMENT)
