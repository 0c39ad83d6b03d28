"""Spark sessions: one root per process, one child per connection.

Vocabulary: the *root* is the session that owns the Spark application; *child* sessions share it and have temporary
views and runtime settings of their own. Invariants: at most one JVM is started per process; a session that somebody
else started is used and never stopped; nothing of Spark's or py4j's logs reaches the terminal.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session_classic import start_classic
from tablestore_engine.spark.session_config import REQUIRED_SETTINGS, SessionConfig

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
        return _remember(start_classic(config), config)


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


def _running_session() -> SparkSession | None:
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _quieten_loggers() -> None:
    """Failures reach the caller as exceptions; these loggers only repeat them, with stack traces."""
    for name in ("py4j", "SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logger = logging.getLogger(name)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_is_not_py4j)  # which speaks of Ctrl-C through the root logger; added once


def _is_not_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in record.pathname


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
