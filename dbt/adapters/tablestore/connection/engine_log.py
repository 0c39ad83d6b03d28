"""More that comes to dbt's terminal: the engine's warnings (what a commit could not do afterwards, and which options
have no effect), but no traceback of a pool that dbt left open."""

from __future__ import annotations

import logging
import sys
from multiprocessing.pool import Pool
from typing import Any

from dbt.adapters.events.logging import AdapterLogger

ENGINE = "tablestore_engine"


class EngineLog(logging.Handler):
    """Passes the engine's warnings on to dbt's log, and with it to the terminal and to `logs/dbt.log`."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._dbt = AdapterLogger("tablestore")

    def emit(self, record: logging.LogRecord) -> None:
        """Log one warning."""
        self._dbt.warning(record.getMessage())


def show_engine_warnings() -> None:
    """Let this process's dbt show the engine's warnings; each of them once, however often this is called.

    A package that dbt imports gives the root logger a stream, which would show them on stderr once more.
    """
    log = logging.getLogger(ENGINE)
    if not any(isinstance(one, EngineLog) for one in log.handlers):
        log.addHandler(EngineLog())
    for handler in logging.getLogger().handlers:
        if type(handler) is logging.StreamHandler:
            handler.addFilter(_is_of_others)  # the same filter is added once


def _is_of_others(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] != ENGINE


def hide_unclosed_pools() -> None:
    """Let nothing be printed when dbt's pool of threads is collected without having been closed.

    dbt leaves it open when `dbt show` or `dbt compile` fails. The garbage collector may close its pipe first, and
    Python then prints a traceback below dbt's message.
    """
    if not isinstance(sys.unraisablehook, _AllButPools):
        sys.unraisablehook = _AllButPools(sys.unraisablehook)


class _AllButPools:
    """Hands all to the hook before, except an unclosed pool whose pipe is closed."""

    def __init__(self, before: Any) -> None:
        self._before, self._hidden = before, Pool.__del__

    def __call__(self, found: Any) -> None:
        if found.object is not self._hidden or not isinstance(found.exc_value, OSError):
            self._before(found)
