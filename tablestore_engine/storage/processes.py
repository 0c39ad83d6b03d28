"""Which process this is, and whether another one of this machine still runs."""

from __future__ import annotations

import os
import socket
from functools import lru_cache

from tablestore_engine.metadata.warehouse.build_record import Process


def this_process() -> Process:
    """The process that runs this code, also after a fork."""
    return Process(_machine(), os.getpid(), _started(os.getpid()))


def is_running(process: Process) -> bool | None:
    """Whether a process runs; None for one of another machine or container, and where that cannot be known."""
    if process.machine is None or process.machine != _machine():
        return None
    try:
        os.kill(process.number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it runs, as another user
    except OSError:
        return None
    started = _started(process.number)
    return started is None or process.started is None or started == process.started


@lru_cache(maxsize=1)
def _machine() -> str | None:
    """Host, boot and process namespace, between which process numbers mean something else."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        return f"{socket.gethostname()}/{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return None


def _started(number: int) -> int | None:
    """When a process started; -1 for one that has ended and was not waited for."""
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8", errors="replace") as file:
            # The name before the parenthesis may hold anything.
            fields = file.read().rpartition(")")[2].split()
        return -1 if fields[0] in ("Z", "X") else int(fields[19])
    except (OSError, IndexError, ValueError):
        return None
