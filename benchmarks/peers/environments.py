"""The environment of each engine: an interpreter with its PySpark, and its jars, by pip and Maven."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.peers.engines import OURS, Engine

_POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dbt.tablestore</groupId><artifactId>peers</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_FETCHED = "fetched"  # a file in the folder of an engine's jars, once they are complete
_DEPENDENCY = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"


@dataclass(frozen=True)
class Environment:
    """The Python that an engine runs on, and the folder of its jars."""

    python: str
    jars: Path


def environment_of(engine: Engine, folder: Path) -> Environment:
    """Make the environment of an engine, unless it is there. Raises CalledProcessError."""
    home = folder / engine.environment
    python = sys.executable
    if engine.pyspark is not None:
        interpreter = folder / f"pyspark-{engine.pyspark}"
        _once(interpreter / "installed", partial(_install, interpreter, engine.pyspark))
        python = str(interpreter / "bin" / "python")
    _once(home / _FETCHED, partial(_fetch, engine, home))
    return Environment(python, home / "jars")


def require_maven(engines: Sequence[Engine], folder: Path) -> None:
    """End the program if jars of engines have to be fetched, and there is no Maven."""
    unfetched = [one.name for one in engines if one.jars and not (folder / one.environment / _FETCHED).exists()]
    if unfetched and shutil.which("mvn") is None:
        raise SystemExit(
            f"The jars of {', '.join(unfetched)} are fetched by Maven, and no mvn was found by the PATH. "
            "Install it (Debian, Ubuntu: sudo apt-get install maven), or measure others with "
            f"PEERS='--engines {OURS}'."
        )


def _once(mark: Path, action: Callable[[], None]) -> None:
    if not mark.exists():
        mark.parent.mkdir(parents=True, exist_ok=True)
        action()
        mark.touch()


def _install(home: Path, pyspark: str) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
    wanted = [f"pyspark=={pyspark}", "setuptools"]
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *wanted], check=True)


def _fetch(engine: Engine, home: Path) -> None:
    jars = home / "jars"
    jars.mkdir(exist_ok=True)
    if not engine.jars:
        return
    pom = home / "pom.xml"
    listed = "".join(_DEPENDENCY.format(*one.split(":")) for one in engine.jars)
    pom.write_text(_POM.format(dependencies=listed), encoding="utf-8")
    # Of other groups they name Spark itself, which PySpark has, in other versions.
    groups = ",".join(sorted({one.partition(":")[0] for one in engine.jars}))
    goal = ["dependency:copy-dependencies", f"-DincludeGroupIds={groups}", f"-DoutputDirectory={jars}"]
    subprocess.run(["mvn", "--quiet", "--batch-mode", "-f", str(pom), *goal], check=True)
