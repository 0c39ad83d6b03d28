"""The clock that dates what is written to tables: the one place that asks for the time of day.

Times are milliseconds since 1970 in UTC. Whatever decides by the time takes it as an argument, so that a test or a
replay can give another one; this is only what callers give when they have none.
"""

from __future__ import annotations

import time


def now_millis() -> int:
    """The time of day in milliseconds since 1970, by this machine."""
    return int(time.time() * 1000)
