"""Finding Java, with scripts and folders that pretend to be one."""

from __future__ import annotations

import os

import pytest

from tablestore_engine.errors import JavaNotFoundError, JavaTooOldError
from tablestore_engine.spark.session.java import find_java


@pytest.fixture
def install(tmp_path):
    """Makes a fake Java whose `java -version` says `says`, and which counts how often it is asked."""

    def make(name="jdk", says='openjdk version "21.0.4" 2024-07-16', release=None, exit_code=0):
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        java = home / "bin" / "java"
        java.write_text(f"#!/bin/sh\necho asked >> {home}/asked\necho '{says}' >&2\nexit {exit_code}\n")
        java.chmod(0o755)
        if release is not None:
            (home / "release").write_text(release)
        return home

    return make


def times_asked(home):
    asked = home / "asked"
    return len(asked.read_text().splitlines()) if asked.exists() else 0


def test_a_release_file_answers_without_a_process(install):
    home = install(
        release='IMPLEMENTOR="Debian"\nJAVA_RUNTIME_VERSION="17.0.15+6"\nJAVA_VERSION="17.0.15"\n'
        'MODULES="java.base java.sql"\n'
    )
    java = find_java({"JAVA_HOME": str(home)}, None)
    assert (java.version, java.build) == (17, "17.0.15+6 Debian")
    assert java.modules == {"java.base", "java.sql"}
    assert times_asked(home) == 0


def test_without_one_java_is_asked_once(install, tmp_path):
    home = install()
    cache = str(tmp_path)
    for _ in range(3):
        assert find_java({"PATH": str(home / "bin")}, cache).version == 21
    assert times_asked(home) == 1
    os.utime(home / "bin" / "java", (1, 1))  # another Java was installed there
    find_java({"PATH": str(home / "bin")}, cache)
    assert times_asked(home) == 2


def test_java_home_goes_before_the_path(install):
    first, second = install("first", 'version "17.0.1"'), install("second", 'version "23"')
    java = find_java({"JAVA_HOME": str(first), "PATH": str(second / "bin")}, None)
    assert java.executable == str(first / "bin" / "java")


def test_no_java_at_all(tmp_path):
    with pytest.raises(JavaNotFoundError, match=r"none was found.*Install a Java runtime 17 or newer"):
        find_java({"PATH": str(tmp_path)}, None)


def test_a_java_home_that_is_none(tmp_path):
    with pytest.raises(JavaNotFoundError, match=r"JAVA_HOME is /nowhere"):
        find_java({"JAVA_HOME": "/nowhere", "PATH": os.environ["PATH"]}, None)


@pytest.mark.parametrize(
    ("says", "version"), [('java version "1.8.0_292"', "1.8.0_292"), ('openjdk version "11.0.2"', "11.0.2")]
)
def test_a_java_that_is_too_old(install, says, version):
    home = install(says=says)
    with pytest.raises(JavaTooOldError) as caught:
        find_java({"JAVA_HOME": str(home)}, None)
    assert f"needs Java 17 or newer, but {home}/bin/java is version {version}." in str(caught.value)
    assert "JAVA_HOME" in str(caught.value)


def test_a_java_that_does_not_run(install):
    home = install(says="error while loading shared libraries: libz.so.1", exit_code=127)
    with pytest.raises(JavaNotFoundError, match="does not report its version: error while loading shared libraries"):
        find_java({"JAVA_HOME": str(home)}, None)
