"""Which manifests a commit merges into new ones, so that a snapshot never names many small ones.

Two ways. *Newest first*: when there are `manifest.merge-min-count` small manifests, the newest of them become one, and
older ones only if they are not much larger than those together. So an entry is written anew some ten times however many
commits follow, and a commit does not read the whole table. DELETE entries stay until their ADD is merged with them.
*All*: when small manifests and those with DELETE entries are as large as `manifest.full-compaction-threshold-size`,
they are merged with every manifest that may hold what they delete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tablestore_engine.metadata.manifest_encoding.manifest_entry import (
    FileKind,
    ManifestEntry,
    ManifestFileMeta,
    merge_entries,
)
from tablestore_engine.operation.scan.partition_filter import PartitionFilter
from tablestore_engine.options import CoreOptions

_Manifests = list[ManifestFileMeta]
_MUCH_LARGER = 2  # times the entries of all newer ones


@dataclass(frozen=True)
class Merge:
    """Manifests that stay in front, those that become new ones, and those that stay behind them."""

    before: tuple[ManifestFileMeta, ...]
    merged: tuple[ManifestFileMeta, ...] = ()
    after: tuple[ManifestFileMeta, ...] = ()


def is_small(one: ManifestFileMeta, options: CoreOptions) -> bool:
    """Whether a manifest is to be merged with others. New ones are between two thirds and three halves of the target,
    so that none of them is."""
    return one.file_size < options.manifest_target_size / 2


def newest_to_merge(metas: Sequence[ManifestFileMeta], options: CoreOptions) -> Merge:
    """The small manifests that a commit merges, which follow each other."""
    least = options.manifest_merge_min_count
    small = [at for at, one in enumerate(metas) if is_small(one, options)]
    if len(small) < max(least, 2):
        return Merge(tuple(metas))
    end = small[-1] + 1
    begin, entries = small[-1], metas[small[-1]].entry_count
    older = len(small) - 1
    while begin and is_small(metas[begin - 1], options):
        size = metas[begin - 1].entry_count
        if size > _MUCH_LARGER * entries and older + 1 < least:
            break
        begin, entries, older = begin - 1, entries + size, older - 1
    if end - begin < 2:
        return Merge(tuple(metas))
    return Merge(tuple(metas[:begin]), tuple(metas[begin:end]), tuple(metas[end:]))


def is_all_due(metas: Sequence[ManifestFileMeta], options: CoreOptions) -> bool:
    """Whether there are DELETE entries, and the manifests to change have become as large as the option says."""
    changing = to_change(metas, options)
    size = sum(one.file_size for one in changing)
    return any(one.num_deleted_files for one in changing) and size >= options.manifest_full_compaction_size


def to_change(metas: Sequence[ManifestFileMeta], options: CoreOptions) -> _Manifests:
    """The manifests that are small, or have DELETE entries."""
    return [one for one in metas if one.num_deleted_files or is_small(one, options)]


def merge_all(
    metas: Sequence[ManifestFileMeta],
    options: CoreOptions,
    read: Callable[[ManifestFileMeta], Sequence[ManifestEntry]],
    choice_of: Callable[[frozenset[bytes]], PartitionFilter | None],
) -> tuple[_Manifests, list[ManifestEntry]]:
    """The manifests that stay, and the entries of the others, of which every DELETE has met its ADD.

    Args:
        metas: all manifests of a snapshot, in order.
        options: of the table.
        read: reads a manifest.
        choice_of: makes the choice of some partitions; None: of all.
    """
    changing = {one.file_name for one in to_change(metas, options)}
    net = merge_entries(e for one in metas if one.file_name in changing for e in read(one))
    left = frozenset(e.partition for e in net if e.kind == FileKind.DELETE)
    others = [one for one in metas if left and one.file_name not in changing]
    choice = choice_of(left) if others else None
    holders = {one.file_name for one in others if choice is None or choice.may_hold(one)}
    if holders:
        changing |= holders
        net = merge_entries(e for one in metas if one.file_name in changing for e in read(one))
    return [one for one in metas if one.file_name not in changing], net
