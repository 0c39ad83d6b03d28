"""Renaming a file onto a name only if that is free, in one step: for file systems that have no hard links.

Python has no call for it. Linux has ``renameat2`` with ``RENAME_NOREPLACE``, macOS ``renamex_np`` with ``RENAME_EXCL``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache

_AT_FDCWD, _RENAME_NOREPLACE = -100, 1
_RENAME_EXCL = 4
# Error numbers of a file system or kernel that cannot do it.
_UNKNOWN = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


def rename_exclusively(src: str, dst: str) -> bool | None:
    """Rename a file. False, and nothing happens, when `dst` exists; None when this system cannot do it in one step.

    Raises:
        OSError: the rename failed for another reason.
    """
    rename = _system_call()
    if rename is None:
        return None
    if rename(os.fsencode(src), os.fsencode(dst)) == 0:
        return True
    error = ctypes.get_errno()
    if error == errno.EEXIST:
        return False
    if error in _UNKNOWN:
        return None
    raise OSError(error, os.strerror(error), src, None, dst)


@cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            renamex = library.renamex_np
            return lambda src, dst: int(renamex(src, dst, _RENAME_EXCL))
        renameat2 = library.renameat2
    except (AttributeError, OSError, TypeError):  # an old library, another system
        return None
    return lambda src, dst: int(renameat2(_AT_FDCWD, src, _AT_FDCWD, dst, _RENAME_NOREPLACE))
