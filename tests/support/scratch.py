"""Where tests put what they make and remove: hundreds of thousands of files, in memory if the system can."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager

_MEMORY = "/dev/shm"


def memory_folder(room=0):
    """A folder in memory that has room for so many bytes; None where there is none."""
    usable = os.path.isdir(_MEMORY) and os.access(_MEMORY, os.W_OK)
    return _MEMORY if usable and shutil.disk_usage(_MEMORY).free > room else None


@contextmanager
def scratch_directory(prefix):
    """A directory that is removed at the end."""
    directory = tempfile.mkdtemp(prefix=prefix, dir=memory_folder())
    try:
        yield directory
    finally:
        shutil.rmtree(directory)
