"""Starting a write: its sequence number and job."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from tablestore_engine.metadata.manifest_encoding.index_manifest import IndexEntry
from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.commit.index_change import as_file
from tablestore_engine.operation.dynamic_buckets.hash_index import dynamic_buckets
from tablestore_engine.operation.files.rolling_writer import WriteTarget
from tablestore_engine.operation.write_job.write_intent import PLAIN, WriteIntent
from tablestore_engine.operation.write_job.write_job import WriteJob
from tablestore_engine.schema.table.deletion_vector_rules import check_vectors_written

_clock_lock = threading.Lock()
_last_number = 0
_RANDOM_BITS = 10


def new_sequence_number(entries: Iterable[ManifestEntry]) -> int:
    """A sequence number above those of all `entries`, and different from that of any concurrent write.

    Microseconds since 1970 with ten random low bits: two writers that start on the same snapshot get different numbers,
    even if the numbers of a table are ahead of the clock. As many numbers are reserved for the layers of a write
    (`mergetree.merge.sequence_layers`).
    """
    global _last_number  # noqa: PLW0603 - one clock for the process
    used = max((e.file.max_sequence_number for e in entries), default=-1)
    with _clock_lock:
        next_one = max(time.time_ns() // 1000, (max(used, _last_number) >> _RANDOM_BITS) + 2)
        _last_number = next_one << _RANDOM_BITS | random.getrandbits(_RANDOM_BITS)
        return _last_number


def new_job(
    target: WriteTarget,
    live: list[ManifestEntry],
    index: Sequence[IndexEntry] = (),
    snapshot_id: int = 0,
    *,
    intent: WriteIntent = PLAIN,
    removes: Callable[[ManifestEntry], bool] | None = None,
) -> WriteJob:
    """A write job on top of the live and index files of a snapshot. `removes` says which of them the write removes.

    Raises:
        OptionError: the table has options under which this engine cannot write.
    """
    options = target.schema.core_options
    options.check_writable()
    check_vectors_written(target.schema)
    goes = removes or (lambda entry: False)
    staying = [e for e in live if not goes(e)]
    schema = target.schema
    numbers = {e.partition: e.total_buckets for e in staying} if options.bucket > 0 else {}
    total = options.bucket
    if numbers and not schema.partition_keys:
        # Its one partition keeps its number of buckets until it is rescaled or overwritten.
        total = next(iter(numbers.values()))
    dynamic = None
    if schema.has_hash_index:
        dynamic = dynamic_buckets(schema, staying, index, snapshot_id, lambda e: not goes(as_file(e)))
    return WriteJob(
        target=target,
        total_buckets=total,
        sequence_number=new_sequence_number(live),
        occupied=frozenset((e.partition, e.bucket) for e in staying),
        partition_buckets={p: n for p, n in numbers.items() if n != total},
        dynamic=dynamic,
        intent=intent,
        base_snapshot_id=snapshot_id,
        overwrites=removes is not None,
    )
