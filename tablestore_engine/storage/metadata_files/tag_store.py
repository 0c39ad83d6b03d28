"""The tags of one table: named snapshots that do not expire. A tag's file is a copy of its snapshot."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.errors import (
    CorruptMetadataError,
    TagAlreadyExists,
    TagNotFound,
    UserError,
)
from tablestore_engine.metadata.snapshot import Snapshot
from tablestore_engine.metadata.tag_lifetime import Lifetime, lifetime_of
from tablestore_engine.storage.file_io import FileIO
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import TablePaths, check_name

# Names of automatic tags may be a date in digits, and a time. Ids of snapshots are smaller.
_SHORTEST_NUMBER = len("20260131")


@dataclass(frozen=True)
class StoredTag:
    """A tag as it is stored. `written_millis` is when its file was written; `lifetime` is None for one that stays."""

    name: str
    snapshot: Snapshot
    written_millis: int
    lifetime: Lifetime | None

    @property
    def created_millis(self) -> int:
        """When it was made, in milliseconds since 1970."""
        return self.written_millis if self.lifetime is None else self.lifetime.created_millis


class TagStore:
    """Finds, makes and removes the tags of the table at ``paths``."""

    def __init__(self, io: FileIO, paths: TablePaths) -> None:
        self._io = io
        self._paths = paths

    def names(self) -> list[str]:
        """The names of all tags, sorted."""
        found = (self._paths.tag_of(one.name) for one in self._io.list(self._paths.tag_dir))
        return sorted(name for name in found if name)

    def load(self, name: str) -> Snapshot:
        """The snapshot under a tag. Raises TagNotFound, which says which there are, and CorruptMetadataError."""
        snapshot = read_record(self._io, self._paths.tag(name), Snapshot.from_json)
        if snapshot is None:
            raise self._not_found(name)
        return snapshot

    def all(self) -> dict[str, Snapshot]:
        """Snapshots by tag; a tag that is removed meanwhile is left out."""
        found = {}
        for name in self.names():
            try:
                found[name] = self.load(name)
            except TagNotFound:
                continue
        return found

    def stored(self) -> list[StoredTag]:
        """All tags by name with what is known of their age; one that is removed meanwhile is left out.

        Raises:
            CorruptMetadataError: the file of a tag is damaged.
        """
        found = []
        for status in self._io.list(self._paths.tag_dir):
            name = self._paths.tag_of(status.name)
            if not name:
                continue
            try:
                snapshot = self.load(name)
                found.append(StoredTag(name, snapshot, status.mtime_millis, lifetime_of(snapshot)))
            except TagNotFound:
                continue
            except (ValueError, TypeError) as error:
                raise CorruptMetadataError(status.path, str(error)) from None
        return found

    def names_snapshot(self, version: str) -> bool:
        """Whether a version is the id of a snapshot. A long number is the tag of that name, if there is one."""
        return _is_number(version) and (
            len(version) < _SHORTEST_NUMBER or not self._io.exists(self._paths.tag(version))
        )

    def create(self, name: str, snapshot: Snapshot) -> None:
        """Give a snapshot a name: one atomic create.

        Raises:
            TagAlreadyExists: there is such a tag.
            UserError: the name has a comma, is a number that may be the id of a snapshot, or cannot be one of a file.
        """
        check_name("tag", name)
        if (_is_number(name) and len(name) < _SHORTEST_NUMBER) or "," in name:
            raise UserError(
                f"'{name}' cannot be the name of a tag.",
                hint=f"A number of less than {_SHORTEST_NUMBER} digits names the snapshot of that id, and a comma"
                " separates tags.",
            )
        if not self._io.create(self._paths.tag(name), snapshot.to_json().encode()):
            raise self._exists(name)

    def replace(self, name: str, snapshot: Snapshot) -> None:
        """Let a tag that exists name another snapshot: one atomic write. Raises TagNotFound."""
        self.load(name)
        self._io.write(self._paths.tag(name), snapshot.to_json().encode())

    def rename(self, name: str, new: str) -> None:
        """Give a tag another name: one atomic create, and then the old name is removed.

        Raises:
            TagNotFound: there is no such tag. TagAlreadyExists: the new name is taken.
            UserError: the new name cannot be one of a tag.
        """
        self.create(new, self.load(name))
        if not self._io.delete(self._paths.tag(name)):
            self.delete(new)  # somebody deleted it meanwhile, and its files with it
            raise self._not_found(name)

    def delete(self, name: str) -> None:
        """Remove a tag's file. Raises TagNotFound."""
        if not self._io.delete(self._paths.tag(name)):
            raise self._not_found(name)

    def _exists(self, name: str) -> TagAlreadyExists:
        hint = "Delete it first: CALL sys.delete_tag; or let it name another snapshot: CALL sys.replace_tag."
        return TagAlreadyExists(f"Tag '{name}' of table {self._paths.table_name} exists already.", hint=hint)

    def _not_found(self, name: str) -> TagNotFound:
        names = self.names()
        there_are = f"Tags are: {', '.join(names)}." if names else "The table has no tags."
        there_are += f" Their folder is {self._paths.tag_dir}."
        return TagNotFound(f"Tag '{name}' of table {self._paths.table_name} does not exist.", hint=there_are)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
