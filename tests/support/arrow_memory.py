"""How much memory Arrow takes."""

from __future__ import annotations

from contextlib import contextmanager

import pyarrow as pa

_pools = []  # what was allocated from one may live as long as the process


@contextmanager
def arrow_memory():
    """A pool that counts what Arrow allocates from now on: `max_memory()` are the most bytes at one time."""
    outer = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(outer)
    _pools.append(pool)
    pa.set_memory_pool(pool)
    try:
        yield pool
    finally:
        pa.set_memory_pool(outer)
