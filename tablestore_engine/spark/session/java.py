"""Finding Java: the same one that Spark would take, checked before Spark fails on it.

Vocabulary: the *executable* is ``$JAVA_HOME/bin/java``, else ``java`` on the PATH; its *home* is where a file
named ``release`` holds the version. Invariant: no process is started when that file exists, and at most one
per installed executable otherwise.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from tablestore_engine.errors import JavaNotFoundError, JavaTooOldError
from tablestore_engine.spark.session.session_cache import write_aside

MINIMUM_VERSION = 17

_INSTALL_HINT = (
    f"Install a Java runtime {MINIMUM_VERSION} or newer (for instance `apt install openjdk-17-jre-headless` or "
    "`brew install openjdk@17`) and put it on the PATH, or let JAVA_HOME point to it."
)


@dataclass(frozen=True)
class Java:
    """A Java runtime: the executable's path, its feature version (17, 21, …) and its full version text.

    `modules` are those it was built with; ``None`` when it does not say.
    """

    executable: str
    version: int
    build: str
    modules: frozenset[str] | None = None


def find_java(environ: Mapping[str, str], cache_dir: str | None) -> Java:
    """The Java that Spark would start.

    Args:
        environ: the environment; JAVA_HOME and PATH count.
        cache_dir: a folder to remember versions in that had to be asked for; ``None`` = nowhere.

    Raises:
        JavaNotFoundError: there is none, or JAVA_HOME points to none.
        JavaTooOldError: it is older than Spark 4 needs.
    """
    executable = _executable(environ)
    facts = _release_file(executable)
    build = _build_of(facts) or _build_by_asking(executable, environ, cache_dir)
    version = _feature_version(build)
    if version < MINIMUM_VERSION:
        raise JavaTooOldError(
            f"Spark needs Java {MINIMUM_VERSION} or newer, but {executable} is version {build.split('+')[0]}.",
            hint=_INSTALL_HINT,
        )
    modules = frozenset(facts["MODULES"].split()) if "MODULES" in facts else None
    return Java(executable=executable, version=version, build=build, modules=modules)


def _executable(environ: Mapping[str, str]) -> str:
    home = environ.get("JAVA_HOME")
    if home:
        executable = shutil.which("java", path=os.path.join(home, "bin"))
        if executable is None:
            raise JavaNotFoundError(
                f"JAVA_HOME is {home}, but there is no executable bin/java in it.", hint=_INSTALL_HINT
            )
        return executable
    executable = shutil.which("java", path=environ.get("PATH", os.defpath))
    if executable is None:
        raise JavaNotFoundError("Spark needs Java, and none was found.", hint=_INSTALL_HINT)
    return executable


def _release_file(executable: str) -> dict[str, str]:
    home = os.path.dirname(os.path.dirname(os.path.realpath(executable)))
    try:
        with open(os.path.join(home, "release"), encoding="utf-8", errors="replace") as file:
            return dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', file.read(), re.MULTILINE))
    except OSError:
        return {}


def _build_of(facts: Mapping[str, str]) -> str | None:
    if "JAVA_VERSION" not in facts:
        return None
    return f"{facts.get('JAVA_RUNTIME_VERSION', facts['JAVA_VERSION'])} {facts.get('IMPLEMENTOR', '')}".strip()


def _build_by_asking(executable: str, environ: Mapping[str, str], cache_dir: str | None) -> str:
    real = os.path.realpath(executable)
    identity = {"path": real, "mtime_ns": os.stat(real).st_mtime_ns}
    memory = os.path.join(cache_dir, "java.json") if cache_dir else None
    known = _recall(memory)
    if known is not None and known.get("identity") == identity:
        return str(known["build"])
    build = _ask(executable, environ)
    if memory is not None:
        with contextlib.suppress(OSError):  # a cache that cannot be written only costs time
            write_aside(memory, json.dumps({"identity": identity, "build": build}))
    return build


def _ask(executable: str, environ: Mapping[str, str]) -> str:
    try:
        answer = subprocess.run(
            [executable, "-version"],
            capture_output=True,
            text=True,
            timeout=60,
            env=dict(environ),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaNotFoundError(f"{executable} cannot be started: {error}.", hint=_INSTALL_HINT) from error
    text = answer.stderr + answer.stdout
    found = re.search(r'version "([^"]+)"', text)
    if found is None:
        said = text.strip().splitlines()
        raise JavaNotFoundError(
            f"{executable} does not report its version: {said[0] if said else 'it says nothing'}.",
            hint=_INSTALL_HINT,
        )
    return found.group(1)


def _feature_version(build: str) -> int:
    numbers = [int(number) for number in re.findall(r"\d+", build)]
    if not numbers:
        return 0
    if numbers[0] == 1 and len(numbers) > 1:  # 1.8.0_292 is Java 8
        return numbers[1]
    return numbers[0]


def _recall(path: str | None) -> dict[str, object] | None:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    except (OSError, ValueError):
        return None
    return known if isinstance(known, dict) and "build" in known else None


__all__ = ["MINIMUM_VERSION", "Java", "find_java"]
