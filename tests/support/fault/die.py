"""The end of a process, as `kill -9` makes it."""

from __future__ import annotations

import os
import signal


def die(*_):
    """Kill this process at once."""
    os.kill(os.getpid(), signal.SIGKILL)
