"""Tables whose snapshots expire."""

from __future__ import annotations

import os
import time

from tablestore_engine.operation.expiration.snapshot_expire import Retention

HOUR = 3_600_000
ALL_BUT_ONE = Retention(1, 1, 0, 1_000)


def metadata(table):
    """Names of manifests and lists on disk."""
    return set(os.listdir(table.paths.manifest_dir))


def orphans(table):
    """Remove the orphan files of a table, of any age. Returns their paths."""
    return table.remove_orphan_files(int(time.time() * 1000) + HOUR)
