"""Spark sessions: one root per process, one child per connection.

Vocabulary: the *root* is the session that owns the Spark application; *child* sessions share it and have temporary
views and runtime settings of their own. Invariants: at most one JVM is started per process; a session that somebody
else started is used and never stopped; nothing of Spark's or py4j's logs reaches the terminal.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import logging
import os
import shlex
import shutil
import sys
import tempfile
import threading
import uuid
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark import session_cache
from tablestore_engine.spark.java import find_java
from tablestore_engine.spark.jvm import Command, Gateway, announced, direct_command, start_jvm, submit_command
from tablestore_engine.spark.session_config import (
    DRIVER_MEMORY,
    JAVA_OPTIONS,
    REQUIRED_SETTINGS,
    Machine,
    SessionConfig,
    spark_settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "SessionConfig",
    "new_session",
    "prepare_session",
    "start_in_background",
    "start_session",
    "stop_session",
]

_lock = threading.RLock()
_owned: dict[int, tuple[SparkSession, SessionConfig]] = {}  # roots that this module started, by identity


def start_session(config: SessionConfig | None = None) -> SparkSession:
    """The process's Spark session: the running one when there is one, else a new one.

    Raises:
        JavaNotFoundError, JavaTooOldError: a classic session has no Java to run on.
        EnvironmentProblem: the JVM does not start, or a package for Spark Connect is missing.
    """
    config = config or SessionConfig()
    _quieten_loggers()
    with _lock:
        if config.remote:
            return _remember(_connect(config.remote, config), config)
        running = _running_session()
        if running is not None:
            return prepare_session(running, config.spark_config)
        return _remember(_start_classic(config), config)


def start_in_background(config: SessionConfig | None = None) -> Future[SparkSession]:
    """``start_session`` in a thread that never keeps the process alive; the future holds session or error."""
    future: Future[SparkSession] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(start_session(config))
        except BaseException as error:  # whoever asks for the result gets it
            future.set_exception(error)

    threading.Thread(target=run, name="spark-start", daemon=True).start()
    return future


def new_session(root: SparkSession) -> SparkSession:
    """A session with temporary views and settings of its own on the application of ``root``."""
    known = _owned.get(id(root))
    if known is not None and known[1].remote:
        return _connect(known[1].remote, known[1])
    child = root.newSession()
    return child if known else prepare_session(child, _runtime_settings(root, child))


def stop_session(root: SparkSession) -> None:
    """Ends a session that ``start_session`` started, with its children; leaves anybody else's alone."""
    with _lock:
        if _owned.pop(id(root), None) is not None:
            root.stop()


def prepare_session(spark: SparkSession, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Sets what the engine needs, and those of ``settings`` that can change at run time, in a running session."""
    for key, value in {**REQUIRED_SETTINGS, **(settings or {})}.items():
        if key in REQUIRED_SETTINGS or (key.startswith("spark.sql.") and spark.conf.isModifiable(key)):
            spark.conf.set(key, value)
    return spark


def _remember(session: SparkSession, config: SessionConfig) -> SparkSession:
    _owned[id(session)] = (session, config)
    return session


def _runtime_settings(root: SparkSession, child: SparkSession) -> dict[str, str]:
    inherited = child.conf.getAll
    return {key: value for key, value in root.conf.getAll.items() if inherited.get(key) != value}


def _quieten_loggers() -> None:
    # Failures reach the caller as exceptions; these loggers only repeat them, with stack traces.
    for name in ("py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.CRITICAL + 1)


# ------------------------------------------------------------------------------------------------ classic


def _running_session() -> SparkSession | None:
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _start_classic(config: SessionConfig) -> SparkSession:
    environ = dict(os.environ)
    spark_home = _spark_home(environ)
    config = replace(config, spark_config={**_spark_defaults(environ, spark_home), **config.spark_config})
    cache = session_cache.cache_directory(config.cache_dir, environ)
    scratch = os.path.join(tempfile.gettempdir(), f"dbt-tablestore-{uuid.uuid4().hex}")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    settings = spark_settings(config, Machine.here(), scratch)
    if settings.get("spark.scheduler.mode") == "FAIR":
        allocation = session_cache.support_file(cache, "fair-scheduler.xml", session_cache.FAIR_SCHEDULER_XML)
        if allocation:
            settings.setdefault("spark.scheduler.allocation.file", f"file://{allocation}")
    if config.is_local:
        environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # no look-up of this machine's name
        python = config.spark_config.get("spark.pyspark.python", sys.executable)
        os.environ.setdefault("PYSPARK_PYTHON", python)
        environ.setdefault("PYSPARK_PYTHON", python)
    gateway = None
    if not _jvm_is_running() and os.name == "posix":
        gateway = _launch(config, settings, environ, spark_home, cache)
    return _build(settings, gateway)


def _build(settings: Mapping[str, str], gateway: Gateway | None) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.config(map=dict(settings))
    try:
        with announced(gateway) if gateway else contextlib.nullcontext():
            return builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise _start_failure(error, gateway) from error
    except Exception as error:
        if type(error).__module__.startswith("py4j"):
            raise _start_failure(error, gateway) from error
        raise


def _start_failure(error: Exception, gateway: Gateway | None) -> EnvironmentProblem:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    cause = next(
        (line.lstrip(": ") for line in lines if line.startswith(":")), lines[0] if lines else repr(error)
    )
    where = f" Its log: {gateway.log}." if gateway and gateway.log else ""
    return EnvironmentProblem(f"Spark did not start: {cause}{where}")


def _jvm_is_running() -> bool:
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def _launch(
    config: SessionConfig,
    settings: Mapping[str, str],
    environ: dict[str, str],
    spark_home: str,
    cache: str | None,
) -> Gateway:
    java = find_java(environ, cache)
    log4j = session_cache.support_file(cache, "log4j2.properties", session_cache.LOG4J_PROPERTIES)
    options = [f"-Dlog4j2.configurationFile=file:{log4j}"] if log4j else []
    log = None if config.log_to_terminal else session_cache.new_log_file(cache)
    options += shlex.split(settings.get(JAVA_OPTIONS, ""))
    submit = submit_command(
        spark_home,
        {**settings, JAVA_OPTIONS: shlex.join(options)},
        shlex.split(environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")),
    )
    commands: list[Command] = [submit]
    if not config.needs_spark_submit and "PYSPARK_SUBMIT_ARGS" not in environ:
        heap = [f"-Xmx{settings[DRIVER_MEMORY]}"]
        commands.insert(
            0, direct_command(java.executable, _class_path(spark_home), [*heap, *options], spark_home)
        )
    return start_jvm(commands, environ, log)


def _class_path(spark_home: str) -> list[str]:
    return [os.path.join(spark_home, "conf"), os.path.join(spark_home, "jars", "*")]


def _spark_home(environ: Mapping[str, str]) -> str:
    if environ.get("SPARK_HOME"):
        return environ["SPARK_HOME"]
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise EnvironmentProblem("PySpark is not installed.", hint="Install it with `pip install pyspark`.")
    return os.path.dirname(found.origin)


def _spark_defaults(environ: Mapping[str, str], spark_home: str) -> dict[str, str]:
    """The settings of the user's spark-defaults.conf."""
    path = os.path.join(
        environ.get("SPARK_CONF_DIR") or os.path.join(spark_home, "conf"), "spark-defaults.conf"
    )
    try:
        with open(path, encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except OSError:
        return {}
    pairs = [line.replace("=", " ", 1).split(None, 1) for line in lines if line and line[0] not in "#!"]
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2 and pair[0].startswith("spark.")}


# ------------------------------------------------------------------------------------------------ connect


def _connect(url: str, config: SessionConfig) -> SparkSession:
    missing = [name for name in ("grpc", "grpc_status", "google.rpc", "zstandard") if not _importable(name)]
    if missing:
        raise EnvironmentProblem(
            f"Spark Connect ({url}) needs packages that are not installed: {', '.join(missing)}.",
            hint="Install them with `pip install 'dbt-tablestore[connect]'`.",
        )
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(url).appName(config.app_name)
    session = builder.create()
    return prepare_session(session, config.spark_config)


def _importable(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False
