"""The user's cache folder: Spark's logs, and small files that Spark reads.

Vocabulary: the *cache* is ``$XDG_CACHE_HOME/dbt-tablestore`` (``~/.cache/dbt-tablestore``), readable by its owner
only, because a JVM runs code from it. Invariant: losing or lacking the cache never breaks a start; files in it are
named by what they contain, written aside and renamed, so processes may share it at will.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Mapping

_KEPT_LOGS = 20

# Warnings and worse, with the time, on stderr, which the start of the JVM leads into the log file.
LOG4J_PROPERTIES = """\
status = off
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{yyyy-MM-dd HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""

# Spark's default pool runs jobs first in, first out, even in FAIR mode.
FAIR_SCHEDULER_XML = """\
<?xml version="1.0"?>
<allocations>
  <pool name="default">
    <schedulingMode>FAIR</schedulingMode>
    <weight>1</weight>
    <minShare>0</minShare>
  </pool>
</allocations>
"""


def cache_directory(configured: str | None, environ: Mapping[str, str]) -> str | None:
    """The cache folder, made when it is missing; ``None`` when there can be none that only this user writes."""
    path = os.path.abspath(os.path.expanduser(configured)) if configured else _default_cache(environ)
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.stat(path)
    except OSError:
        return None
    owner = getattr(os, "geteuid", lambda: status.st_uid)()
    if status.st_uid != owner or status.st_mode & 0o022 or not os.access(path, os.W_OK | os.X_OK):
        return None
    return path


def _default_cache(environ: Mapping[str, str]) -> str:
    base = environ.get("XDG_CACHE_HOME") or environ.get("LOCALAPPDATA") or os.path.join("~", ".cache")
    return os.path.join(os.path.expanduser(base), "dbt-tablestore")


def support_file(cache: str | None, name: str, text: str) -> str | None:
    """The path of a file in the cache with this text, written unless it is there; ``None`` without a cache."""
    if cache is None:
        return None
    stem, extension = os.path.splitext(name)
    path = os.path.join(cache, f"{stem}-{hashlib.sha256(text.encode()).hexdigest()[:12]}{extension}")
    if not os.path.exists(path):
        try:
            write_aside(path, text)
        except OSError:
            return None
    return path


def write_aside(path: str, text: str, mode: int = 0o666) -> None:
    """Writes a small file so that others see all of it or nothing, and no user that `mode` excludes sees any of it."""
    temporary = f"{path}.{os.getpid()}.{threading.get_ident()}"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def new_log_file(cache: str | None, of: str = "spark") -> str:
    """A new path for what a JVM, or the process `of` that name, writes: in the cache, else in the temporary folder."""
    if cache is None:
        handle, path = tempfile.mkstemp(prefix="dbt-tablestore-spark-", suffix=".log")
        os.close(handle)
        return path
    folder = os.path.join(cache, "logs")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    _prune_logs(folder)
    return os.path.join(folder, f"{of}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log")


def _prune_logs(folder: str) -> None:
    with contextlib.suppress(OSError):  # another process may prune at the same time
        logs = sorted((entry for entry in os.scandir(folder) if entry.is_file()), key=lambda log: log.stat().st_mtime)
        for log in logs[: -_KEPT_LOGS + 1]:
            os.unlink(log.path)
