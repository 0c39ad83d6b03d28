"""Starting a write: the identity, sequence number and job that every write of a table begins with."""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterable

from tablestore_engine.metadata.manifest import ManifestEntry
from tablestore_engine.operation.commit import CommitIdentity
from tablestore_engine.operation.data_file_writer import WriteTarget
from tablestore_engine.operation.write import WriteJob
from tablestore_engine.options import CoreOptions

_PROCESS = uuid.uuid4().hex
_identifiers = itertools.count(1)
_clock_lock = threading.Lock()
_last_number = 0


def new_identity(options: CoreOptions, work: str = "tablestore") -> CommitIdentity:
    """An identity that no other commit has. `work` is told to who looks at the snapshot's user."""
    user = f"{work}-{_PROCESS}-{os.getpid()}"
    prefix = options.commit_user_prefix
    return CommitIdentity(f"{prefix}_{user}" if prefix else user, next(_identifiers))


def new_sequence_number(entries: Iterable[ManifestEntry]) -> int:
    """A sequence number above those of all `entries`, and different from that of any concurrent write.

    Microseconds since 1970 with ten random bits below: two writers that start on the same snapshot do not tie.
    """
    global _last_number  # noqa: PLW0603 - one clock for the process
    used = max((e.file.max_sequence_number for e in entries), default=-1)
    with _clock_lock:
        clock = (time.time_ns() // 1000) << 10 | random.getrandbits(10)
        _last_number = max(used + 1, clock, _last_number + 1)
        return _last_number


def new_job(
    target: WriteTarget,
    live: list[ManifestEntry],
    *,
    into_empty: Callable[[ManifestEntry], bool] | None = None,
    refuse_duplicates: bool = False,
) -> WriteJob:
    """A write job on top of the live files. `into_empty` says which of them the write removes.

    Raises:
        OptionError: the table has options under which this engine cannot write.
    """
    options = target.schema.core_options
    options.refuse_unsupported(for_write=True)
    staying = [e for e in live if not (into_empty and into_empty(e))]
    return WriteJob(
        target=target,
        total_buckets=options.bucket,
        sequence_number=new_sequence_number(live),
        occupied=frozenset((e.partition, e.bucket) for e in staying),
        # Other merge engines are there to fold records of one key.
        refuse_duplicates=refuse_duplicates and target.schema.merge_engine.keeps_last,
    )
