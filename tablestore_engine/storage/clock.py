"""The clock that dates what is written to tables: no other module of the engine reads the time of day to decide
anything.

Times are milliseconds since 1970 in UTC. Code that decides by the time takes it as an argument, so that a test can
pass another one; this function is what callers pass otherwise. The age of files in the user's cache (`spark/session`)
is no part of a table.
"""

from __future__ import annotations

import time


def now_millis() -> int:
    """The time of day in milliseconds since 1970, by this machine."""
    return int(time.time() * 1000)
