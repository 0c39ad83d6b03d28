"""Which manifests a commit merges into new ones, so that a snapshot never names many small ones."""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestFileMeta
from tablestore_engine.options import CoreOptions

_Manifests = list[ManifestFileMeta]


def manifests_to_merge(
    metas: Sequence[ManifestFileMeta], options: CoreOptions, *, everything: bool = False
) -> tuple[_Manifests, _Manifests]:
    """The manifests that stay, and those to merge.

    Small ones are merged when there are `manifest.merge-min-count` of them. `everything` merges without waiting for so
    many: all small ones, and all that a DELETE entry may concern.
    """
    small = [m for m in metas if m.file_size < options.manifest_target_size]
    enough = len(small) > 1 or any(m.num_deleted_files for m in small)
    if not (enough if everything else len(small) >= options.manifest_merge_min_count):
        return list(metas), []
    # DELETE entries of a small manifest may belong to ADDs of a big one: merge all when there are any.
    if any(m.num_deleted_files for m in small):
        return [], list(metas)
    return [m for m in metas if m.file_size >= options.manifest_target_size], small
