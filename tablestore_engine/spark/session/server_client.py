"""Finding a shared Spark server, starting it where there is none, and ending it.

Invariants: of processes that start together, one starts the server, because it holds the life lock, which the server
inherits; a client shares the use lock before it looks for the server, and until the client ends, so no server leaves
while a client may use it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tablestore_engine.errors import EnvironmentProblem, ServerInUseError
from tablestore_engine.spark.session.jvm import import_what_statements_need
from tablestore_engine.spark.session.server_files import (
    OF_CLIENTS,
    Record,
    ServerFolder,
    code_identity,
    kind_of_server,
    usable_folder,
    wish_text,
)
from tablestore_engine.spark.session.session_cache import cache_directory, new_log_file
from tablestore_engine.spark.session.session_config import ENGINE, SessionConfig

_START_SECONDS = 300.0
_STOP_SECONDS = 60.0
_PAUSE = 0.02
_FORGET_SECONDS = 24 * 3600
_PROGRAM = "tablestore_engine.spark.session.server_process"

_uses: dict[str, int] = {}
"""The use locks of this process, by folder. Held until it ends."""
_found: dict[str, ServerFolder] = {}
"""The folders of the servers that this process found, by their addresses, the latest last."""

Launch = Callable[[ServerFolder, SessionConfig, int, str], None]
"""Starts a server of a folder, as configured, which inherits a lock, and writes a log."""


@dataclass(frozen=True)
class Server:
    """A server that lives: its folder, its record, and whether a client uses it now."""

    folder: ServerFolder
    record: Record
    in_use: bool


def attach(config: SessionConfig, environ: Mapping[str, str] | None = None, launch: Launch | None = None) -> Record:
    """The record of a server that fits; it is started if there is none. It stays until this process ends.

    Raises:
        EnvironmentProblem: this machine cannot have one, or its start failed; the message says why.
    """
    environ = os.environ if environ is None else environ
    cache = _cache(config, environ)
    folder = _running_one(config, cache) or _of_kind(config, cache, environ)
    deadline = time.monotonic() + _START_SECONDS
    log = None
    while time.monotonic() < deadline:
        lock = folder.try_life_lock()
        if lock is not None:
            try:
                with usable_folder(cache):
                    log = new_log_file(cache, "server")
                    _forget_old(cache, folder)
                    folder.clear()
                    (launch or _launch)(folder, config, lock, log)
            finally:
                os.close(lock)
            import_what_statements_need()  # while Spark starts
        record = _await_record(folder, deadline)
        if record is not None and _listens(record):
            _found.pop(record.url, None)
            _found[record.url] = folder
            return record
        if record is None:
            _raise_failure(folder, log)
        time.sleep(_PAUSE)
    raise EnvironmentProblem(f"The shared Spark server did not start within {_START_SECONDS:.0f} seconds.")


def has_ended(url: str) -> bool:
    """Whether the server that this process found under an address has ended, or is about to."""
    folder = _found[url]
    record = folder.record()
    return record is None or record.url != url or not folder.is_alive() or not _listens(record)


def ended_server() -> EnvironmentProblem | None:
    """The error of a statement that failed because the shared server of this process has ended; None while it lives,
    or there is none."""
    if not _found or not has_ended(next(reversed(_found))):
        return None
    return EnvironmentProblem(
        "The shared Spark server has ended, or was stopped, while the statement ran.",
        hint="Run the statement again: the next dbt or tablestore, and a new TableStore, start another server. A "
        "stream goes on where it was when it is started with its checkpoint location.",
    )


def living_servers(cache_dir: str | None = None, warehouse: str | None = None) -> list[Server]:
    """The servers of this user that have started, of all warehouses or of one."""
    cache = cache_directory(cache_dir, os.environ)
    found = []
    for folder in ServerFolder.all_in(cache) if cache else []:
        record = folder.record()
        if record is None or not folder.is_alive() or warehouse not in (None, record.warehouse):
            continue
        lock = folder.try_use_lock()
        if lock is not None:
            os.close(lock)
        found.append(Server(folder, record, in_use=lock is None))
    return found


def stop_server(server: Server, *, force: bool = False) -> None:
    """End a server, and wait until it has ended.

    Raises:
        ServerInUseError: processes use it, and `force` was not given.
        EnvironmentProblem: it does not end.
    """
    if server.in_use and not force:
        raise ServerInUseError(
            f"The Spark server of {server.record.warehouse} is in use.",
            hint="Stop it when the processes that use it have ended, or use --force.",
        )
    with contextlib.suppress(ProcessLookupError):
        os.kill(server.record.pid, signal.SIGTERM)
    deadline = time.monotonic() + _STOP_SECONDS
    while server.folder.is_alive():
        if time.monotonic() > deadline:
            raise EnvironmentProblem(
                f"The Spark server of {server.record.warehouse} (process {server.record.pid}) does not end.",
                hint=f"Its log: {server.record.log}.",
            )
        time.sleep(_PAUSE)


def _cache(config: SessionConfig, environ: Mapping[str, str]) -> str:
    if os.name != "posix":
        raise EnvironmentProblem("A shared Spark server needs Linux or macOS.", hint="Leave out `session: shared`.")
    if not config.is_local:
        raise EnvironmentProblem(
            f"A shared Spark server runs on this machine, and the master is {config.effective_master}.",
            hint="Leave out `session: shared`, or the master.",
        )
    cache = cache_directory(config.cache_dir, environ)
    if cache is None:
        raise EnvironmentProblem(
            "A shared Spark server needs a cache folder that only this user can write to.",
            hint="Set XDG_CACHE_HOME to such a folder.",
        )
    return cache


def _of_kind(config: SessionConfig, cache: str, environ: Mapping[str, str]) -> ServerFolder:
    folder = ServerFolder.make(cache, kind_of_server(config, environ, code_identity()))
    _use(folder)
    return folder


def _running_one(config: SessionConfig, cache: str) -> ServerFolder | None:
    """The folder of a server with any settings, if such a one will do."""
    if not config.any_settings:
        return None
    code = code_identity()
    for server in living_servers(cache, config.shared):
        if server.record.code == code:
            _use(server.folder)
            if server.folder.is_alive():  # also now that it cannot leave any more
                return server.folder
    return None


def _use(folder: ServerFolder) -> None:
    """Keep the server of a folder from leaving until this process ends."""
    if folder.path not in _uses:
        with usable_folder(folder.path):
            _uses[folder.path] = folder.share_use_lock()


def _launch(folder: ServerFolder, config: SessionConfig, lock: int, log: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name not in OF_CLIENTS}
    paths = [os.path.dirname(ENGINE), *filter(None, [os.environ.get("PYTHONPATH")])]
    with open(log, "ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", _PROGRAM, folder.path, str(lock), log],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=folder.path,  # no relative path of one project's models may mean a file of another project
            env={**environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
            pass_fds=[lock],
        )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
        pipe.write(wish_text(config).encode())


def _await_record(folder: ServerFolder, deadline: float) -> Record | None:
    """The record, as soon as there is one; None when the server has ended before."""
    while time.monotonic() < deadline:
        record = folder.record()
        if record is not None or not folder.is_alive():
            return record
        time.sleep(_PAUSE)
    return None


def _listens(record: Record) -> bool:
    """Whether the server accepts connections: one whose JVM was killed ends a moment later."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", record.port), 5):
        return True
    return False


def _raise_failure(folder: ServerFolder, log: str | None) -> None:
    """Raise when a start failed; `log` is that of a start by this process."""
    failure = folder.failure()
    if failure:
        raise EnvironmentProblem(failure)
    if log is not None:
        raise EnvironmentProblem("The shared Spark server ended while it started.", hint=f"Its log: {log}.")


def _forget_old(cache: str, mine: ServerFolder) -> None:
    """Remove the folders of servers that ended long ago."""
    for folder in ServerFolder.all_in(cache):
        if folder.path != mine.path and folder.used_at() <= time.time() - _FORGET_SECONDS:
            folder.remove_unused()
