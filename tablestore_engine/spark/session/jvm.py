"""Starting the JVM that a classic session talks to.

Vocabulary: the *command* is either ``java`` with Spark's gateway as its main class (*direct*), or Spark's own
``spark-submit`` script, which computes the same command with a shell and another JVM first. The *gateway* is
the port and the secret that the JVM writes into a file once it listens.

Invariants: the JVM ends with the Python process at the latest, because it ends when its stdin does; it never sees the
terminal's Ctrl-C, so that Python can cancel jobs first; it holds none of the terminal's streams, so that a process that
waits for the output of ``dbt`` does not wait for the JVM. A direct start that fails is repeated by ``spark-submit``.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session.java import Java
from tablestore_engine.spark.session.session_archive import NO_ARCHIVE, ArchiveUse, give_up

# Modules that the first statement imports, by name, because a session knows nothing of statements.
_OF_FIRST_STATEMENT = ("pyspark.sql.functions", "tablestore_engine.sql.execute", "tablestore_engine.sql.result_frame")
# Parts of a JVM's complaint that are not its reason: what it begins with, and lines that say nothing.
_JAVA_NAME = re.compile(r'^(?:Exception in thread "[^"]*" )?(?:[\w$]+\.)+[A-Z][\w$]*(?:Exception|Error): ')
_SAYS_NOTHING = re.compile(
    r"Error: (?:Could not create the Java Virtual Machine|A fatal exception has occurred)|Picked up "
)
_REASON_FOLLOWS = "Error occurred during initialization of VM"
_START_TIMEOUT = 300.0  # seconds; a loaded machine may take one of the five minutes

# The packages of the JDK that Spark's own launcher opens (org.apache.spark.launcher.JavaModuleOptions). Options that a
# version of Java does not know are ignored.
_OPENED_PACKAGES = (
    "java.base/java.lang",
    "java.base/java.lang.invoke",
    "java.base/java.lang.reflect",
    "java.base/java.io",
    "java.base/java.net",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref",
    "java.base/sun.nio.ch",
    "java.base/sun.nio.cs",
    "java.base/sun.security.action",
    "java.base/sun.util.calendar",
    "java.security.jgss/sun.security.krb5",
)
_VECTOR_MODULE = "jdk.incubator.vector"
MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED_PACKAGES),
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
    "-Dderby.connection.requireAuthentication=false",
)
# With this Python, a notebook's `jupyter` maybe, the JVM would look for data sources; else with that of its workers.
_DRIVER_PYTHON = "PYSPARK_DRIVER_PYTHON"
_GATEWAY_CLASS = "org.apache.spark.api.python.PythonGatewayServer"


@dataclass(frozen=True)
class Command:
    """A way to start the JVM: the argument list, what it adds to the environment, and the archive it starts from."""

    arguments: tuple[str, ...]
    environ: Mapping[str, str]
    archive: ArchiveUse = NO_ARCHIVE


@dataclass(frozen=True)
class Gateway:
    """A JVM that listens: its port and secret, its process, and where its log is (``None``: the terminal)."""

    port: int
    secret: str
    process: subprocess.Popen[bytes]
    log: str | None


def module_options(java: Java) -> tuple[str, ...]:
    """The options that Spark's launcher gives to every JVM, less a module that this one may have been built without."""
    has_vectors = java.modules is None or _VECTOR_MODULE in java.modules
    return (*MODULE_OPTIONS, f"--add-modules={_VECTOR_MODULE}") if has_vectors else MODULE_OPTIONS


def direct_command(
    java: Java,
    class_path: Sequence[str],
    options: Sequence[str],
    environ: Mapping[str, str],
    archive: ArchiveUse = NO_ARCHIVE,
) -> Command:
    """``java`` itself, with the options that Spark's launcher would give it and ``options`` after them."""
    path = os.pathsep.join(class_path)
    flags = (*module_options(java), *archive.options, *options)
    return Command((*archive.prefix, java.executable, "-cp", path, *flags, _GATEWAY_CLASS), environ, archive)


def submit_command(spark_home: str, settings: Mapping[str, str], submit_arguments: Sequence[str]) -> Command:
    """Spark's own script, with every setting on its command line as PySpark passes them."""
    confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    script = os.path.join(spark_home, "bin", "spark-submit")
    return Command((script, *confs, *submit_arguments), {"SPARK_HOME": spark_home})


def import_what_statements_need() -> None:
    """Import what the first statement would import: a JVM takes as long to start as this does.

    A failing import will fail again where it is used.
    """
    for module in _OF_FIRST_STATEMENT:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def start_jvm(
    commands: Sequence[Command], environ: Mapping[str, str], log: str | None, meanwhile: Callable[[], object]
) -> Gateway:
    """Starts the first command that leads to a listening JVM.

    `meanwhile` is called after each start, before the JVM is waited for.

    Raises:
        EnvironmentProblem: none does; one message that carries the JVM's own words and the path of its log.
    """
    said = ""
    for command in commands:
        gateway, said = _try(command, environ, log, meanwhile)
        if gateway is not None:
            return gateway
        give_up(command.archive)
    where = f" Its log: {log}." if log else ""
    raise EnvironmentProblem(f"Spark's JVM did not start{': ' + said.rstrip('.') if said else ''}.{where}")


def _try(
    command: Command, environ: Mapping[str, str], log: str | None, meanwhile: Callable[[], object]
) -> tuple[Gateway | None, str]:
    folder = tempfile.mkdtemp(prefix="dbt-tablestore-")
    try:
        connection_file = os.path.join(folder, "gateway")
        child_environ = {
            **{name: value for name, value in environ.items() if name != _DRIVER_PYTHON},
            **command.environ,
            "_PYSPARK_DRIVER_CONN_INFO_PATH": connection_file,
            "SPARK_CONNECT_MODE": "0",
        }
        process, start = _spawn(command.arguments, child_environ, log)
        meanwhile()
        found = _await_gateway(process, connection_file)
        if found is not None:
            return Gateway(*found, process, log), ""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the shell and the JVM in it
        process.wait()
        return None, _complaint(log, start)
    except OSError as error:
        return None, f"{command.arguments[0]}: {error.strerror or error}."
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _spawn(
    arguments: Sequence[str], environ: Mapping[str, str], log: str | None
) -> tuple[subprocess.Popen[bytes], int]:
    output: IO[bytes] | None = open(log, "ab") if log else None  # noqa: SIM115 -- closed below, on every way
    try:
        start = output.tell() if output else 0
        # A process group of its own keeps Ctrl-C and the terminal's end away from the JVM.
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=output or subprocess.DEVNULL,
            stderr=output,
            env=environ,
            start_new_session=True,
        )
    finally:
        if output:
            output.close()
    return process, start


def _await_gateway(process: subprocess.Popen[bytes], path: str) -> tuple[int, str] | None:
    deadline = time.monotonic() + _START_TIMEOUT
    while time.monotonic() < deadline:
        if os.path.exists(path):  # the JVM renames the finished file to this name
            return _read_gateway(path)
        if process.poll() is not None:
            return None
        time.sleep(0.005)
    return None


def _read_gateway(path: str) -> tuple[int, str]:
    with open(path, "rb") as file:
        data = file.read()
    port, length = struct.unpack(">ii", data[:8])
    return port, data[8 : 8 + length].decode()


def _complaint(log: str | None, start: int) -> str:
    """The line of the JVM's log that says why it ended."""
    if log is None:
        return ""
    with open(log, "rb") as file:
        file.seek(start)
        lines = file.read(64_000).decode(errors="replace").splitlines()
    lines = [line.strip() for line in lines if line.strip() and not _SAYS_NOTHING.match(line.strip())]
    causes = [line for line in lines if any(word in line for word in ("Error", "Exception", "error"))]
    cause = (causes or lines or [""])[0]
    if cause == _REASON_FOLLOWS:
        cause = ": ".join(lines[lines.index(cause) :][:2])
    return _JAVA_NAME.sub("", cause)


class _WithEnvironment:
    """The module ``os`` with another environment, for the one module that reads it."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)


@contextlib.contextmanager
def announced(gateway: Gateway) -> Iterator[None]:
    """While this is open, PySpark connects to ``gateway`` instead of starting a JVM of its own.

    PySpark takes the address from environment variables. They are not set for the process: Spark starts while dbt runs,
    which scans the whole environment for secrets at every line that it logs, and fails when a variable disappears
    meanwhile. So PySpark's module sees an environment of its own.
    """
    from pyspark import java_gateway

    settings = {"PYSPARK_GATEWAY_PORT": str(gateway.port), "PYSPARK_GATEWAY_SECRET": gateway.secret}
    module = vars(java_gateway)
    module["os"] = _WithEnvironment({**os.environ, **settings})
    try:
        yield
    finally:
        module["os"] = os


def remember_classes(view: Any) -> None:
    """Keep the JVM's answers about names of classes and static methods, for PySpark's ``SparkContext._jvm``.

    py4j asks for them again at every use: a fifth of all round trips, of which each makes Java search the packages that
    PySpark imports. They do not change while the JVM lives. Packages and values of fields are not kept.
    """
    from py4j.java_gateway import JavaClass, JavaMember, JVMView

    class RememberingClass(JavaClass):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            found = super().__getattr__(name)
            if isinstance(found, JavaMember):
                setattr(self, name, found)
            return found

    class RememberingView(JVMView):  # type: ignore[misc]
        def __getattr__(self, name: str) -> Any:
            found = super().__getattr__(name)
            if isinstance(found, JavaClass):
                found.__class__ = RememberingClass
                setattr(self, name, found)
            return found

    view.__class__ = RememberingView
