"""Names in a warehouse and in a table directory. Only what has one user has its name there: success files.

A name that begins with a dot is *hidden*: it is being built or being removed, and no listing shows it.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

from tablestore_engine.errors import UserError
from tablestore_engine.metadata.manifest_encoding.data_file_meta import FILE_INDEX_SUFFIX

DATABASE_SUFFIX = ".db"
LONGEST_NAME = 200  # bytes that `check_name` takes
_POSTPONE_BUCKET = -2
_BUCKET = "bucket-"
_TAG = "tag-"
_TAG_SUCCESS = "tag-success-file"
_CONSUMER = "consumer-"
_SNAPSHOT = re.compile(r"snapshot-(\d+)")
_CHANGELOG = re.compile(r"changelog-(\d+)")
_SCHEMA = re.compile(r"schema-(\d+)")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")
_HIDDEN_FOLDER = re.compile(r"\.(.+)\.([0-9a-f]{32})")
_COMPACTION_NOTE = re.compile(r"(\d{17})\.([a-z]+)(?:\.(\d+))?")


def local_folder(warehouse: str) -> str:
    """The path of a warehouse, which may be relative and may be written as the address of a file.

    Raises:
        UserError: it is in an object store.
    """
    if warehouse.startswith("file:"):
        return "/" + warehouse[len("file:") :].lstrip("/")
    if _SCHEME.match(warehouse):
        raise UserError(
            f"The warehouse '{warehouse}' is not a local folder, and only local ones can be used now.",
            hint="Mount it, and give the path of the folder.",
        )
    return os.path.expanduser(warehouse)


def snapshot_id_of(name: str) -> int | None:
    """The id in the name of a snapshot file, None for any other name."""
    match = _SNAPSHOT.fullmatch(name)
    return int(match[1]) if match else None


def changelog_id_of(name: str) -> int | None:
    """The id in the name of a changelog that outlives its snapshot, None for any other name."""
    match = _CHANGELOG.fullmatch(name)
    return int(match[1]) if match else None


def schema_id_of(name: str) -> int | None:
    """The id in the name of a schema file, None for any other name."""
    match = _SCHEMA.fullmatch(name)
    return int(match[1]) if match else None


@dataclass(frozen=True)
class TablePaths:
    """The names below one table's directory, ``root``: an absolute path without a slash at its end."""

    root: str

    @property
    def table_name(self) -> str:
        """`database.table`, for messages of processes that know the files only."""
        *_, database, table = ("", *self.root.split("/"))
        return f"{database.removesuffix(DATABASE_SUFFIX)}.{table}"

    @property
    def schema_dir(self) -> str:
        """The directory of schema files."""
        return f"{self.root}/schema"

    def schema(self, schema_id: int) -> str:
        """One version of the schema."""
        return f"{self.root}/schema/schema-{schema_id}"

    @property
    def snapshot_dir(self) -> str:
        """The directory of snapshot files."""
        return f"{self.root}/snapshot"

    def snapshot(self, snapshot_id: int) -> str:
        """One snapshot."""
        return f"{self.root}/snapshot/snapshot-{snapshot_id}"

    @property
    def latest_hint(self) -> str:
        """The file that may hold the newest snapshot's id."""
        return f"{self.root}/snapshot/LATEST"

    @property
    def earliest_hint(self) -> str:
        """The file that may hold the oldest snapshot's id."""
        return f"{self.root}/snapshot/EARLIEST"

    @property
    def changelog_dir(self) -> str:
        """The directory of changelogs that outlive their snapshots."""
        return f"{self.root}/changelog"

    def changelog(self, snapshot_id: int) -> str:
        """The file of an expired snapshot, for its changelog."""
        return f"{self.root}/changelog/changelog-{snapshot_id}"

    @property
    def latest_changelog_hint(self) -> str:
        """The file that holds the newest of their ids, for other readers."""
        return f"{self.root}/changelog/LATEST"

    @property
    def earliest_changelog_hint(self) -> str:
        """The file that holds the oldest of their ids, for other readers."""
        return f"{self.root}/changelog/EARLIEST"

    @property
    def tag_dir(self) -> str:
        """The directory of tags."""
        return f"{self.root}/tag"

    def tag(self, name: str) -> str:
        """One tag."""
        return f"{self.root}/tag/{_TAG}{name}"

    def tag_of(self, file_name: str) -> str | None:
        """The tag that a file of the tag directory is, None for any other file."""
        return file_name[len(_TAG) :] if file_name.startswith(_TAG) and file_name != _TAG_SUCCESS else None

    def tag_success(self, name: str) -> str:
        """The file that says that a tag was made."""
        return f"{self.root}/tag/{_TAG_SUCCESS}/{name}_SUCCESS"

    @property
    def consumer_dir(self) -> str:
        """The directory of consumers."""
        return f"{self.root}/consumer"

    def consumer(self, name: str) -> str:
        """One consumer."""
        return f"{self.root}/consumer/{_CONSUMER}{name}"

    def consumer_of(self, file_name: str) -> str | None:
        """The consumer that a file of the consumer directory is, None for any other file."""
        return file_name[len(_CONSUMER) :] if file_name.startswith(_CONSUMER) else None

    @property
    def manifest_dir(self) -> str:
        """The directory of manifests, manifest lists and index manifests."""
        return f"{self.root}/manifest"

    def manifest(self, name: str) -> str:
        """A manifest, manifest list or index manifest by its name."""
        return f"{self.root}/manifest/{name}"

    def manifest_list(self, name: str) -> str:
        """The same as ``manifest``: lists live in the same directory."""
        return self.manifest(name)

    def new_manifest_name(self, uuid: str, number: int) -> str:
        """The name of the ``number``-th manifest of a writer."""
        return f"manifest-{uuid}-{number}"

    def new_manifest_list_name(self, uuid: str, number: int) -> str:
        """The name of the ``number``-th manifest list of a writer."""
        return f"manifest-list-{uuid}-{number}"

    @property
    def statistics_dir(self) -> str:
        """The directory of statistics files."""
        return f"{self.root}/statistics"

    def statistics(self, name: str) -> str:
        """A statistics file by its name."""
        return f"{self.root}/statistics/{name}"

    def new_statistics_name(self, uuid: str) -> str:
        """The name of a new statistics file."""
        return f"stat-{uuid}-0"

    def new_index_manifest_name(self, uuid: str, number: int) -> str:
        """The name of the ``number``-th index manifest of a writer."""
        return f"index-manifest-{uuid}-{number}"

    @property
    def index_dir(self) -> str:
        """The directory of index files."""
        return f"{self.root}/index"

    def index_file(self, name: str) -> str:
        """An index file by its name."""
        return f"{self.root}/index/{name}"

    def new_index_file_name(self, uuid: str, number: int | str) -> str:
        """The name of a writer's index file; ``number`` distinguishes the files of one writer."""
        return f"index-{uuid}-{number}"

    def partition_dir(self, partition_path: str) -> str:
        """The directory of a partition; the table's own without partitions."""
        return f"{self.root}/{partition_path}" if partition_path else self.root

    def bucket_dir(self, partition_path: str, bucket: int) -> str:
        """The directory of a bucket's data files."""
        return f"{self.partition_dir(partition_path)}/{bucket_name(bucket)}"

    def new_data_file_name(
        self, uuid: str, number: int | str, *, prefix: str = "data-", extension: str = "parquet"
    ) -> str:
        """The name of a writer's data file; ``number`` distinguishes the files of one writer."""
        return f"{prefix}{uuid}-{number}.{extension}"

    def new_file_index_name(self, data_file: str, remade_by: str = "") -> str:
        """The name of the file index of a data file; one that is made anew has a name of its own, because older
        snapshots name the one before."""
        return f"{data_file}{remade_by and '.'}{remade_by}{FILE_INDEX_SUFFIX}"

    def side_file(self, name: str) -> str:
        """A file that only this engine uses."""
        return f"{self.root}/tablestore/{name}"

    def build_mark(self, build_id: str) -> str:
        """The file that says by which build the table is being filled."""
        return self.side_file(f"build-{build_id}")

    def log_position(self, topic: str) -> str:
        """The file that says how far the log of the table in a topic is. Names of topics are too long for files."""
        return self.side_file(f"log-position-{hashlib.sha256(topic.encode()).hexdigest()[:16]}")

    @property
    def compaction_dir(self) -> str:
        """The directory of the timeline of scheduled compactions."""
        return self.side_file("compaction")

    def compaction_note(self, instant: str, note: str, attempt: int | None = None) -> str:
        """A note of the timeline: the state of the plan of an instant, or of one attempt at it."""
        suffix = "" if attempt is None else f".{attempt}"
        return f"{self.compaction_dir}/{instant}.{note}{suffix}"

    def compaction_note_of(self, file_name: str) -> tuple[str, str, int] | None:
        """Instant, note and attempt (0 for the plan itself) of a file of the timeline; None for any other file."""
        match = _COMPACTION_NOTE.fullmatch(file_name)
        return (match[1], match[2], int(match[3] or 0)) if match else None


@dataclass(frozen=True)
class WarehousePaths:
    """The names below a warehouse, ``root``: an absolute path without a slash at its end."""

    root: str

    def database_dir(self, database: str) -> str:
        """The directory of a database. Raises UserError for a name that cannot be one."""
        return f"{self.root}/{check_name('database', database)}{DATABASE_SUFFIX}"

    def table_dir(self, database: str, table: str) -> str:
        """The directory of a table. Raises UserError for a name that cannot be one."""
        return f"{self.database_dir(database)}/{check_name('table', table)}"

    def hidden_table_dir(self, database: str, table: str, mark: str) -> str:
        """A directory that nobody lists, for a table that is being built or removed; ``mark`` makes it unique."""
        return f"{self.database_dir(database)}/.{check_name('table', table)}.{mark}"

    def hidden_database_dir(self, database: str, mark: str) -> str:
        """A directory that nobody lists, for a database that is being removed; ``mark`` makes it unique."""
        return f"{self.root}/.{database}.{mark}"

    def views_dir(self, database: str) -> str:
        """The directory of a database's views."""
        return f"{self.database_dir(database)}/.views"

    def view(self, database: str, name: str) -> str:
        """One view. Raises UserError for a name that cannot be one."""
        return f"{self.views_dir(database)}/{check_name('view', name)}.json"

    def functions_dir(self, database: str) -> str:
        """The directory of a database's functions."""
        return f"{self.database_dir(database)}/.functions"

    def function(self, database: str, name: str) -> str:
        """One function. Raises UserError for a name that cannot be one."""
        return f"{self.functions_dir(database)}/{check_name('function', name)}.json"

    @property
    def builds_dir(self) -> str:
        """The directory of the records of tables that are being filled."""
        return f"{self.root}/.builds"

    def build_note(self, build_id: str, note: str) -> str:
        """The record of a build, or a note on it."""
        return f"{self.builds_dir}/{build_id}.{note}"

    def database_of(self, directory_name: str) -> str | None:
        """The database that a directory below the warehouse is, None for any other directory."""
        if is_hidden(directory_name) or not directory_name.endswith(DATABASE_SUFFIX):
            return None
        return directory_name[: -len(DATABASE_SUFFIX)] or None


def bucket_name(bucket: int) -> str:
    """The name of the directory of a bucket."""
    return f"{_BUCKET}{'postpone' if bucket == _POSTPONE_BUCKET else bucket}"


def is_bucket(name: str) -> bool:
    """Whether a directory of this name below a table or a partition is that of a bucket."""
    return name.startswith(_BUCKET)


def is_partition(name: str) -> bool:
    """Whether a directory of this name below a table or a partition is that of a partition."""
    return "=" in name


def is_row_folder(name: str) -> bool:
    """Whether a directory of this name below a table is that of a bucket or a partition."""
    return is_bucket(name) or is_partition(name)


def hidden_folder(name: str) -> tuple[str, str] | None:
    """The table or database, and the mark, of a directory that is being built or removed; None for another one."""
    match = _HIDDEN_FOLDER.fullmatch(name)
    return (match[1], match[2]) if match else None


def is_hidden(name: str) -> bool:
    """Whether listings leave the name out."""
    return name.startswith(".")


def check_name(kind: str, name: str) -> str:
    """The name itself. Raises UserError when it cannot be the name of a directory that is listed."""
    if not name or name != name.strip() or is_hidden(name) or any(one in name for one in "/\\\0\n\r"):
        raise UserError(
            f"'{name}' cannot be the name of a {kind}.",
            hint="A name is not empty, does not begin with a dot and contains no slash.",
        )
    if len(name.encode()) > LONGEST_NAME:
        raise UserError(f"The name of the {kind} '{name[:40]}…' is too long: {LONGEST_NAME} bytes at most.")
    return name
