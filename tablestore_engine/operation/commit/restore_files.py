"""Which files to add and remove so that exactly the wanted ones are live: pure."""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.metadata.manifest_encoding.manifest_entry import ManifestEntry
from tablestore_engine.operation.commit.conflicts import replaced_meanwhile


def entries_to_restore(
    live: Sequence[ManifestEntry], wanted: Sequence[ManifestEntry], new_names: frozenset[str]
) -> list[ManifestEntry]:
    """DELETE and ADD entries that change the live files to the wanted ones.

    Args:
        live: the files that are live now.
        wanted: ADD entries of the files that are live afterwards.
        new_names: names of those among them that were written for it; the others are live already.

    Raises:
        ConflictError: a file that it relies on has been replaced meanwhile.
    """
    alive = {entry.identifier for entry in live}
    for entry in wanted:
        if entry.identifier not in alive and entry.file.file_name not in new_names:
            raise replaced_meanwhile(f"File {entry.file.file_name}")
    stays = {entry.identifier for entry in wanted}
    removed = [e.removal for e in live if e.identifier not in stays]
    return [*removed, *(entry for entry in wanted if entry.identifier not in alive)]
