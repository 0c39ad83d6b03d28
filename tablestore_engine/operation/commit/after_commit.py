"""What may go wrong after a commit without failing it: it is told once, and tried again after the next commit."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from tablestore_engine.errors import TableStoreError

T = TypeVar("T")
_KEPT_TEXTS = 1_000
_log = logging.getLogger(__name__)


def warned_of(failure: str, step: Callable[[], T]) -> T | None:
    """Run a step that never fails its caller; None when it failed. What goes wrong is logged; `failure` says what was
    not done then.

    A process says the same thing once. That others were faster is nothing to warn of: the next commit tries again.
    """
    try:
        return step()
    except Exception as error:
        if isinstance(error, TableStoreError) and error.retryable:
            _log.info("%s: %s", failure, error)
        else:
            _warn_once(f"{failure}: {error}")
        return None


@lru_cache(_KEPT_TEXTS)
def _warn_once(text: str) -> None:
    _log.warning("%s", text)
