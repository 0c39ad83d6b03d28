"""Spark sessions: one root per process, one child per connection.

Vocabulary: the *root* is the session that owns the Spark application; *child* sessions share it and have temporary
views and runtime settings of their own. Invariants: at most one JVM is started per process; a session that somebody
else started is used and never stopped; nothing of Spark's or py4j's logs reaches the terminal.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from weakref import ReferenceType, WeakKeyDictionary, ref

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session.session_classic import start_classic
from tablestore_engine.spark.session.session_config import REQUIRED_SETTINGS, SessionConfig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = [
    "SessionConfig",
    "new_session",
    "prepare_session",
    "restore_settings",
    "server_ended",
    "start_in_background",
    "start_session",
    "stop_session",
]


@dataclass
class _Root:
    """A root that this module started, and how many have asked for it and not yet stopped it."""

    session: SparkSession
    config: SessionConfig
    users: int = 1


_lock = threading.RLock()
_roots: dict[int, _Root] = {}  # by the session's identity
_given: WeakKeyDictionary[SparkSession, dict[str, str]] = WeakKeyDictionary()
"""The settings that sessions were prepared with, and that are not of their application."""
_sessions_lock = threading.Lock()
_on_servers: WeakKeyDictionary[SparkSession, str] = WeakKeyDictionary()
"""The sessions on shared servers, and the addresses of these. Under its lock."""


def start_session(config: SessionConfig | None = None) -> SparkSession:
    """The process's Spark session: the running one when there is one, else a new one.

    Raises:
        JavaNotFoundError, JavaTooOldError: a classic session has no Java to run on.
        EnvironmentProblem: the JVM does not start, or a package for Spark Connect is missing.
    """
    config = config or SessionConfig()
    _quieten_loggers()
    with _lock:
        if config.shared:
            config = _with_server(config)
        running = None if config.remote else _running_session()
        if running is not None:
            return prepare_session(running, config.spark_config)
        session = _connect(config.remote, config) if config.remote else start_classic(config)
        _roots[id(session)] = _Root(session, config)
        return session


def start_in_background(config: SessionConfig | None = None) -> Future[SparkSession]:
    """``start_session`` in a thread that never keeps the process alive; the future holds session or error."""
    future: Future[SparkSession] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            future.set_result(start_session(config))
        except BaseException as error:  # raised where the result is used
            future.set_exception(error)

    threading.Thread(target=run, name="spark-start", daemon=True).start()
    return future


def new_session(root: SparkSession) -> SparkSession:
    """A session with temporary views and settings of its own on the application of ``root``."""
    known = _roots.get(id(root))
    if known is not None:
        return _connect(known.config.remote, known.config) if known.config.remote else root.newSession()
    child = root.newSession() if hasattr(root, "newSession") else _connect_alike(root)
    inherited = child.conf.getAll
    mine = {key: value for key, value in root.conf.getAll.items() if inherited.get(key) != value}
    return prepare_session(child, mine)


def server_ended(root: SparkSession) -> bool:
    """Whether a shared server that a session works on was ended."""
    known = _roots.get(id(root))
    if known is None or not known.config.shared:
        return False
    from tablestore_engine.spark.session.server_client import has_ended

    return has_ended(known.config.remote or "")


def stop_session(root: SparkSession) -> None:
    """Ends a session that ``start_session`` started, once all its users have stopped it; never a session that others
    started."""
    with _lock:
        known = _roots.get(id(root))
        if known is None:
            return
        known.users -= 1
        if known.users == 0:
            del _roots[id(root)]
            root.stop()


def prepare_session(spark: SparkSession, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Sets what the engine needs, and the ``settings`` that can change at run time, in a running session."""
    # PySpark warns of what it raises next, with Java's stack or for the user of another program.
    for message in ("(?s)toPandas attempted Arrow .* not continue", r"\[RETRIES_EXCEEDED\]"):
        warnings.filterwarnings("ignore", message=message, category=UserWarning)
    if settings:
        _given[spark] = dict(settings)
    _set(spark, {**REQUIRED_SETTINGS, **(settings or {})})
    return spark


def restore_settings(spark: SparkSession, setting: str | None = None) -> None:
    """After RESET of a setting, or of all: sets what the engine needs, and what the session was prepared with and
    Spark does not know as the session's beginning."""
    given = _given.get(spark, {})
    of_reset = {key: value for key, value in given.items() if setting in (None, key)}
    _set(spark, {**REQUIRED_SETTINGS, **of_reset})


def _set(spark: SparkSession, settings: Mapping[str, str]) -> None:
    for key, value in settings.items():
        if key in REQUIRED_SETTINGS or (key.startswith("spark.sql.") and spark.conf.isModifiable(key)):
            spark.conf.set(key, value)


def _running_session() -> SparkSession | None:
    """The session of this process's Spark application, or a session of Spark Connect, if there is one."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    running = SparkContext._active_spark_context
    if running is None:
        return _running_connect()
    for root in _roots.values():
        if getattr(root.session, "_sc", None) is running:
            root.users += 1
            return root.session
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _running_connect() -> SparkSession | None:
    """A session of Spark Connect that this process started: PySpark starts no Java of its own next to one."""
    for root in _roots.values():
        if root.config.remote and not server_ended(root.session):
            root.users += 1
            return root.session
    return None


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
    _require_connect(f"Spark Connect ({url})")
    from pyspark.sql import SparkSession

    _pass_by_proxies()
    session = SparkSession.builder.remote(url).appName(config.app_name).create()
    atexit.register(_end_connection, ref(session), config)
    if config.shared:
        _limit_retries(session)
        with _sessions_lock:
            _on_servers[session] = url
    return prepare_session(session, config.spark_config)


def _pass_by_proxies() -> None:
    """A proxy that the environment names does not reach servers of this machine, and gRPC would ask it for them."""
    local = "localhost,127.0.0.1"
    others = os.environ.get("no_grpc_proxy") or os.environ.get("no_proxy") or ""  # noqa: SIM112 - as gRPC spells it
    if not others.endswith(local):
        os.environ["no_grpc_proxy"] = ",".join(filter(None, (others, local)))  # noqa: SIM112


def _end_connection(session: ReferenceType[Any], config: SessionConfig) -> None:
    """End a session on its server while Python still runs threads: gRPC waits for ever for them later."""
    from tablestore_engine.spark.session.server_client import has_ended

    found = session()
    if found is None or found.is_stopped:
        return
    if config.shared and has_ended(config.remote or ""):
        found.release_session_on_close = False
    with contextlib.suppress(Exception):
        found.stop()


def _with_server(config: SessionConfig) -> SessionConfig:
    """The configuration with the address of the shared server, which is started if there is none."""
    from tablestore_engine.spark.session.server_client import attach

    _require_connect("A shared Spark server")
    config = replace(config, shared=os.path.realpath(config.shared or ""))
    url = attach(config).url
    _close_ended(url)
    return replace(config, remote=url)


def _close_ended(living: str) -> None:
    """Close the sessions whose shared server has ended: PySpark asks the first session of a thread, and that of the
    process, for settings, as long as they are open."""
    from tablestore_engine.spark.session.server_client import has_ended

    with _sessions_lock:
        known: list[tuple[Any, str]] = [(one, url) for one, url in _on_servers.items() if url != living]
    ended = {url for url in {url for _, url in known} if has_ended(url)}
    for one, url in known:
        if url in ended and not one.is_stopped:
            one.release_session_on_close = False
            with contextlib.suppress(Exception):
                one.stop()


def _limit_retries(session: SparkSession) -> None:
    """A server on this machine that does not answer within seconds was ended; PySpark would try for ten minutes."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    client: Any = session.client
    client.set_retry_policies([DefaultPolicy(max_retries=6, max_backoff=1_000)])


def _require_connect(what: str) -> None:
    missing = [name for name in _connect_packages() if not _importable(name)]
    if missing:
        raise EnvironmentProblem(
            f"{what} needs packages that are not installed, or cannot be imported: {', '.join(missing)}.",
            hint="Install them with `pip install 'dbt-tablestore[connect]'`.",
        )


def _connect_packages() -> tuple[str, ...]:
    """The modules that this PySpark imports for Spark Connect, by the names that one imports."""
    from pyspark import __version__

    compresses = tuple(int(part) for part in __version__.split(".")[:2]) >= (4, 1)
    return ("grpc", "grpc_status", "google.rpc", *(("zstandard",) if compresses else ()))


def _connect_alike(root: SparkSession) -> SparkSession:
    """Another Spark Connect session on the server of ``root``, which somebody else connected to."""
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    channel: Any = root.client._builder
    session = cast("SparkSession", ConnectSession.builder.channelBuilder(channel).create())
    atexit.register(_end_connection, ref(session), SessionConfig())
    return session


def _importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except Exception:  # a package that does not fit others raises errors of its own
        return False
    return True
