"""The process of a shared Spark server: `python -m …server_process <folder> <descriptor of the life lock> <log>`.

It starts Spark as a session of this process is started, opens Spark Connect on it, and writes the record. From then on
it only looks after the server; `reason_to_leave` decides when it ends. The JVM ends with this process, and this process
with the JVM.

Invariant: the server leaves by itself only while it holds the use lock alone, so never under a client; nothing is lost
when it is killed, because its clients make the commits.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session.server_files import Record, ServerFolder, code_identity, start_settings, wish_of
from tablestore_engine.spark.session.session_classic import start_classic
from tablestore_engine.spark.session.session_config import JAVA_OPTIONS, SessionConfig

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TICK_SECONDS = 1.0
_CODE_SECONDS = 30.0
_EXIT_SECONDS = 30.0
_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 -- the name of a variable
_SERVICE = "org.apache.spark.sql.connect.service.SparkConnectService$"
_GUARD = "org.apache.spark.sql.connect.service.PreSharedKeyAuthenticationInterceptor"
_GLOBAL_VIEWS = "spark.sql.globalTempDatabase"
_KIND = "-Dtablestore.server=true"  # an option of its own gives the server a class archive of its own

_SETTINGS = {
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",
    # Sessions end when their clients have ended, however long one of these waits between two statements.
    "spark.connect.session.manager.defaultSessionTimeout": "24h",
    # Queries of a killed client stop soon.
    "spark.connect.execute.manager.detachedTimeout": "30s",
    # Each session would have Python workers of its own, which start anew for each connection of dbt.
    "spark.sql.artifact.isolation.enabled": "false",
}


@dataclass(frozen=True)
class State:
    """The state of a server without clients."""

    idle: float  # seconds since the last client
    idle_limit: float
    warehouse_was_there: bool
    warehouse_is_there: bool
    same_code: bool


def reason_to_leave(state: State) -> str | None:
    """Why a server without clients leaves; None when it stays."""
    if state.warehouse_was_there and not state.warehouse_is_there:
        return "the warehouse was removed"
    if not state.same_code:
        return "another version was installed"
    if state.idle >= state.idle_limit:
        return f"nobody used it for {state.idle_limit / 60:g} minutes"
    return None


class Server:
    """The Spark session of this process, and Spark Connect on it."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        jvm: Any = session.sparkContext._jvm
        self._service = getattr(jvm, _SERVICE).__getattr__("MODULE$")
        if self._service.server() is None:
            self._service.start(session.sparkContext._jsc.sc())

    @property
    def port(self) -> int:
        """Where it listens. Fails when the JVM has ended."""
        return int(self._service.localPort())

    def end_sessions(self) -> None:
        """End all sessions, and what runs in them: those of clients that were killed. What sessions of one Spark share
        ends with them, as it would with a process of its own: cached rows, and global temporary views."""
        manager = self._service.sessionManager()
        infos = manager.listActiveSessions()
        for number in range(infos.size()):
            manager.closeSession(infos.apply(number).key(), False)
        catalog = self._session.catalog
        for view in catalog.listTables(self._session.conf.get(_GLOBAL_VIEWS)):
            catalog.dropGlobalTempView(view.name)
        catalog.clearCache()

    def stop(self) -> None:
        self._session.stop()


def start_server(config: SessionConfig) -> tuple[Server, str]:
    """A server, and the token that it wants from clients.

    Raises:
        EnvironmentProblem: Spark does not start, or cannot protect a server.
    """
    token = secrets.token_urlsafe(32)
    os.environ[_TOKEN] = token  # not a setting: those are shown on command lines, and to sessions
    options = shlex.split(config.spark_config.get(JAVA_OPTIONS, ""))
    settings = {
        **start_settings(config.spark_config),
        **_SETTINGS,
        JAVA_OPTIONS: shlex.join([*options, _KIND]),
    }
    session = start_classic(replace(config, shared=None, spark_config=settings))
    jvm: Any = session.sparkContext._jvm
    try:
        jvm.java.lang.Class.forName(_GUARD)
    except Exception as error:
        raise EnvironmentProblem(
            f"Spark {session.version} cannot protect a server by a token, so it is not shared.",
            hint="Install a newer PySpark, or leave out `session: shared`.",
        ) from error
    return Server(session), token


class Keeper:
    """Looks after a server until it leaves. `lock` is the descriptor that holds the life lock."""

    def __init__(self, folder: ServerFolder, server: Server, record: Record, lock: int) -> None:
        self._folder, self._server, self._record, self._lock = folder, server, record, lock
        self._same_code = True
        self._code_checked = time.monotonic()
        self._warehouse_was_there = os.path.isdir(record.warehouse)
        self._had_clients = True
        self._last_use = time.monotonic()

    def step(self, now: float) -> str | None:
        """Look once. The reason to leave, if there is one: then this process holds the use lock, and leaves."""
        if self._server.port != self._record.port:
            return "Spark Connect ended"
        if not self._folder.is_locked_by(self._lock):
            return "its folder in the cache was removed"
        if self._folder.record() != self._record:  # a client that looks for the server would wait for it
            with contextlib.suppress(OSError):
                self._folder.write_record(self._record)
        self._warehouse_was_there |= os.path.isdir(self._record.warehouse)
        lock = self._folder.try_use_lock()
        if lock is None:
            self._had_clients, self._last_use = True, now
            self._folder.note_use(time.time())
            return None
        if self._had_clients:
            self._server.end_sessions()
            self._had_clients = False
        reason = reason_to_leave(self._state(now))
        if reason is None:
            os.close(lock)
        return reason

    def _state(self, now: float) -> State:
        if now - self._code_checked >= _CODE_SECONDS:
            self._code_checked = now
            self._same_code = code_identity() == self._record.code
        return State(
            idle=now - self._last_use,
            idle_limit=self._record.idle_seconds,
            warehouse_was_there=self._warehouse_was_there,
            warehouse_is_there=os.path.isdir(self._record.warehouse),
            same_code=self._same_code,
        )


def keep(step: Callable[[float], str | None], stop: threading.Event) -> str:
    """Look until there is a reason to leave; the reason."""
    while not stop.wait(_TICK_SECONDS):
        reason = step(time.monotonic())
        if reason is not None:
            return reason
    return "it was asked to"


def main(path: str, life_lock: str, log: str) -> None:
    """Run a server until it leaves. The life lock was inherited, and is released when this process ends."""
    lock = int(life_lock)
    os.set_inheritable(lock, False)  # a JVM that ends late must not hold it
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    folder = ServerFolder(path)
    config = wish_of(sys.stdin.read())
    code = code_identity()
    try:
        server, token = start_server(config)
        record = Record(
            pid=os.getpid(),
            port=server.port,
            token=token,
            warehouse=config.shared or "",
            version=_version(),
            code=code,
            started=time.time(),
            idle_seconds=config.idle_minutes * 60,
            log=log,
        )
        keeper = Keeper(folder, server, record, lock)
        folder.write_record(record)
    except Exception as error:
        folder.write_failure(str(error))
        raise
    _say(f"Spark Connect listens on port {record.port}.")
    try:
        reason = keep(keeper.step, stop)
    except Exception as error:
        reason = f"Spark ended ({type(error).__name__})"
    _say(f"The server leaves: {reason}.")
    if folder.is_locked_by(lock):  # else another server may have made the folder again
        folder.clear()
    last = threading.Timer(_EXIT_SECONDS, os._exit, (1,))  # whatever hangs
    last.daemon = True
    last.start()
    with contextlib.suppress(Exception):
        server.stop()


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dbt-tablestore")
    except PackageNotFoundError:
        return "unknown"


def _say(text: str) -> None:
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
