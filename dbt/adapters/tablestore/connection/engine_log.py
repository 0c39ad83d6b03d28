"""The engine's warnings as dbt's: what a commit could not do afterwards, and which options have no effect."""

from __future__ import annotations

import logging

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
