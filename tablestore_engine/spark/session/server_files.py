"""The files by which the processes of one user find a shared Spark server.

Vocabulary: a *kind* of server is a short text that is equal for two processes exactly when one server can work for
both: same warehouse, same code, same Python, same settings that Spark takes at its start. Each kind has a *folder* in
the user's cache. The server holds the *life lock* in it for as long as it lives; each of its clients shares the *use
lock*. The *record* says where a server listens, and the token that it wants.

Invariants: locks belong to processes, so the kernel releases those of a killed one; the folder and the record are
readable by their owner only; a record counts only while the life lock is held.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session.session_cache import write_aside
from tablestore_engine.spark.session.session_config import ENGINE, SessionConfig

_LIFE, _USE, _RECORD, _FAILURE = "life.lock", "use.lock", "server.json", "failure.txt"
_START_SETTINGS_OF_SQL = (
    "spark.sql.cache.",
    "spark.sql.catalog.",
    "spark.sql.catalogImplementation",
    "spark.sql.extensions",
    "spark.sql.globalTempDatabase",
    "spark.sql.queryExecutionListeners",
    "spark.sql.streaming.",
    "spark.sql.ui.",
    "spark.sql.warehouse.dir",
)
_READ_AT_START = ("SPARK_", "PYSPARK_", "HADOOP_", "YARN_", "JAVA_", "JDK_")
_ALSO_READ = ("PYTHONPATH", "TZ")
_OWN_PYTHON = ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")
_SET_BY_PYSPARK = ("SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE")
OF_CLIENTS = (
    "SPARK_REMOTE",
    "SPARK_LOCAL_REMOTE",
    "SPARK_API_MODE",
    "SPARK_CONNECT_MODE",
    "SPARK_CONNECT_MODE_ENABLED",
)
"""The environment of clients of Spark Connect, and of processes that they start; PySpark sets some of it itself."""


@dataclass(frozen=True)
class Record:
    """The record of a server. Times are seconds since the epoch."""

    pid: int
    port: int
    token: str
    warehouse: str
    version: str
    code: str
    started: float
    idle_seconds: float
    log: str

    @property
    def url(self) -> str:
        """The address with the token. PySpark accepts a token without TLS for the name `localhost` only."""
        return f"sc://localhost:{self.port}/;token={self.token}"


# ------------------------------------------------------------------------------------------------- kinds


def start_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """The settings that Spark takes at its start; all others are of a session."""
    return {
        key: value
        for key, value in settings.items()
        if not key.startswith("spark.sql.") or key.startswith(_START_SETTINGS_OF_SQL)
    }


def kind_of_server(config: SessionConfig, environ: Mapping[str, str], code: str) -> str:
    """The kind of the server that a process with this configuration and environment needs.

    `code` is from `code_identity`.
    """
    facts = {
        "warehouse": config.shared,
        "code": code,
        "python": [sys.executable, sys.version],
        "master": config.effective_master,
        "settings": start_settings(config.spark_config),
        "classes": config.class_data_sharing,
        "environment": _environment(environ),
    }
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if (name.startswith(_READ_AT_START) or name in _ALSO_READ)
        and name not in (*_SET_BY_PYSPARK, *OF_CLIENTS)
        and not (name in _OWN_PYTHON and value == sys.executable)
    }


def code_identity() -> str:
    """A text that changes when this engine or PySpark is replaced by another version, or edited."""
    import importlib.util

    facts = [f"{path} {size} {time}" for path, size, time in sorted(_sources(ENGINE))]
    spark = importlib.util.find_spec("pyspark")
    if spark is not None and spark.origin is not None:
        facts.append(f"{spark.origin} {_mtime(os.path.join(os.path.dirname(spark.origin), 'version.py'))}")
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:20]


def _sources(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _sources(entry.path)
            elif entry.name.endswith(".py"):
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns


def _mtime(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


# ----------------------------------------------------------------------------------------------- folders


@contextlib.contextmanager
def usable_folder(path: str) -> Iterator[None]:
    """Say which folder of the cache cannot be used. Raises EnvironmentProblem; FileNotFoundError passes."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise EnvironmentProblem(
            f"A shared Spark server cannot use {error.filename or path}: {error.strerror or error}.",
            hint="Give this user the folder, remove it, or set XDG_CACHE_HOME to another one.",
        ) from error


@dataclass(frozen=True)
class ServerFolder:
    """The folder of one kind of server."""

    path: str

    @classmethod
    def make(cls, cache: str, kind: str) -> ServerFolder:
        """The folder of a kind, made if it is missing."""
        path = os.path.join(cache, "servers", kind)
        with usable_folder(path):
            os.makedirs(path, mode=0o700, exist_ok=True)
        return cls(path)

    @classmethod
    def all_in(cls, cache: str) -> list[ServerFolder]:
        """The folders of all kinds."""
        path = os.path.join(cache, "servers")
        try:
            with usable_folder(path):
                names = sorted(os.listdir(path))
        except FileNotFoundError:
            return []
        return [cls(one) for one in (os.path.join(path, name) for name in names) if os.path.isdir(one)]

    def try_life_lock(self) -> int | None:
        """A descriptor that holds the life lock; None while a server, or one that starts, holds it."""
        return _try_lock(os.path.join(self.path, _LIFE))

    def is_locked_by(self, descriptor: int) -> bool:
        """Whether this descriptor's lock is the life lock: not where the folder was removed, and perhaps made again."""
        return _is_at(descriptor, os.path.join(self.path, _LIFE))

    def is_alive(self) -> bool:
        """Whether a server lives, or starts."""
        lock = self.try_life_lock()
        if lock is None:
            return True
        os.close(lock)
        return False

    def share_use_lock(self) -> int:
        """A descriptor that shares the use lock. Waits while a server is leaving, or the folder is removed, for which
        it is held alone; a folder that was removed is made again."""
        import fcntl

        path = os.path.join(self.path, _USE)
        while True:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):  # removed right now
                descriptor = _open(path)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                if _is_at(descriptor, path):
                    return descriptor
                os.close(descriptor)

    def try_use_lock(self) -> int | None:
        """A descriptor that holds the use lock alone; None while the server has clients."""
        return _try_lock(os.path.join(self.path, _USE))

    def remove_unused(self) -> None:
        """Remove the folder, unless a server or a client holds one of its locks."""
        with contextlib.ExitStack() as held, contextlib.suppress(FileNotFoundError):  # another one removes it
            for take in (self.try_life_lock, self.try_use_lock):
                lock = take()
                if lock is None:
                    return
                held.callback(os.close, lock)
            shutil.rmtree(self.path, ignore_errors=True)

    def used_at(self) -> float:
        """When the server was last seen with a client."""
        try:
            return os.stat(os.path.join(self.path, _USE)).st_mtime
        except FileNotFoundError:
            return 0.0

    def note_use(self, now: float) -> None:
        """The server has a client now."""
        with contextlib.suppress(OSError):
            os.utime(os.path.join(self.path, _USE), (now, now))

    def record(self) -> Record | None:
        """The record of the server; None when it has written none, or not yet."""
        try:
            with open(os.path.join(self.path, _RECORD), encoding="utf-8") as file:
                return Record(**json.load(file))
        except (OSError, ValueError, TypeError):
            return None

    def write_record(self, record: Record) -> None:
        self._write(_RECORD, json.dumps(asdict(record)))

    def failure(self) -> str:
        """Why the last start failed; empty when it did not."""
        try:
            with open(os.path.join(self.path, _FAILURE), encoding="utf-8") as file:
                return file.read()
        except OSError:
            return ""

    def write_failure(self, message: str) -> None:
        self._write(_FAILURE, message)

    def clear(self) -> None:
        """Remove what an earlier server said."""
        for name in (_RECORD, _FAILURE):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.path, name))

    def _write(self, name: str, text: str) -> None:
        write_aside(os.path.join(self.path, name), text, mode=0o600)


def _open(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _is_at(descriptor: int, path: str) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _try_lock(path: str) -> int | None:
    import fcntl

    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def wish_text(config: SessionConfig) -> str:
    """A configuration as text, for the process of the server."""
    return json.dumps(asdict(config))


def wish_of(text: str) -> SessionConfig:
    """The configuration of such a text."""
    values: dict[str, Any] = json.loads(text)
    return SessionConfig(**values)
