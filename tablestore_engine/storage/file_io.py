"""The file operations that the engine needs, and their form on a local disk.

Vocabulary: *create* makes a file appear whole under a name that was free, and says whether it did: the one operation
on which commits rest; *write* replaces a file whole. Paths are absolute path strings.

Invariants: nobody ever reads half of a created or written file; of any number of racing creates of one path exactly one
returns True; every failure of the operating system is a StorageError that names the path. A FileIO can be pickled,
because executors write data files with it.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4

from tablestore_engine.errors import StorageError
from tablestore_engine.storage.exclusive_rename import rename_exclusively

if TYPE_CHECKING:
    import pyarrow as pa

# Error numbers of file systems without hard links.
_NO_LINKS = {
    errno.EPERM,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.EMLINK,
    errno.EXDEV,
    errno.EINVAL,
}


_ATTEMPTS = 3
# Error numbers of a directory that is not there, or not empty.
_NOT_EMPTY = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.EBUSY}


@dataclass(frozen=True)
class FileStatus:
    """One entry of a directory. ``size`` in bytes (0 for a directory), ``mtime_millis`` since 1970."""

    path: str
    name: str
    size: int
    is_dir: bool
    mtime_millis: int


class FileIO(Protocol):
    """Access to the files of a warehouse. All methods raise StorageError when the storage fails."""

    def read(self, path: str) -> bytes:
        """The whole file. A StorageError with ``missing`` set when there is none."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file, whole; replaces any file of that name. Makes the directories above it."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a file, whole, unless the path exists; True when this call created it."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory."""

    def list(self, path: str) -> list[FileStatus]:
        """The entries of a directory by name; none when it does not exist."""

    def delete(self, path: str) -> bool:
        """Remove a file; False when there was none."""

    def delete_tree(self, path: str) -> bool:
        """Remove a directory with everything in it; False when there was none."""

    def delete_empty_dir(self, path: str) -> bool:
        """Remove a directory without entries; False when it has some, or is missing."""

    def rename(self, src: str, dst: str) -> bool:
        """Move a directory or file; False, and nothing happens, when ``dst`` exists."""

    def mkdirs(self, path: str) -> None:
        """Make a directory and those above it, where they are missing."""

    def size(self, path: str) -> int:
        """The size of a file in bytes."""

    def open_input(self, path: str) -> pa.NativeFile:
        """A file open for reading, with random access."""

    def open_output(self, path: str) -> pa.NativeFile:
        """A new file open for writing; it may be seen half written. Makes the directories above it."""

    def local_path(self, path: str) -> str:
        """The path by which Spark and other libraries of this machine open the file."""


@contextmanager
def storage_errors(path: str) -> Iterator[None]:
    """Errors of the system about a file, as StorageErrors."""
    try:
        yield
    except OSError as error:
        raise StorageError.of(path, error) from error


@dataclass(frozen=True)
class LocalFileIO:
    """A local or mounted file system. Durability after a loss of power is that of the file system.

    `root` is the folder of a table, which must be there: a writer does not make it again after others dropped or
    renamed the table, because nobody would find a table there, nor be able to make one.
    """

    root: str | None = field(default=None, compare=False)

    def read(self, path: str) -> bytes:
        """See ``FileIO.read``."""
        with storage_errors(path), open(path, "rb") as file:
            return file.read()

    def write(self, path: str, data: bytes) -> None:
        """See ``FileIO.write``: a hidden file in the same directory, renamed over it."""
        with storage_errors(path):
            temporary = self._temporary(path, data)
            try:
                os.replace(temporary, path)
            except BaseException:
                _discard(temporary)
                raise

    def create(self, path: str, data: bytes) -> bool:
        """See ``FileIO.create``: a hidden file in the same directory, linked to its name,
        which only one writer can do."""
        with storage_errors(path):
            if os.path.lexists(path):  # spares the losers of a race most of the work; the link decides
                return False
            temporary = self._temporary(path, data)
            try:
                return self._link(temporary, path, data)
            finally:
                _discard(temporary)

    def _link(self, temporary: str, path: str, data: bytes) -> bool:
        try:
            os.link(temporary, path)
            return True
        except FileExistsError:
            # A network file system may repeat a request whose answer was lost: then the file there is ours.
            return os.stat(temporary).st_nlink > 1
        except OSError as error:
            if os.stat(temporary).st_nlink > 1:
                return True
            if error.errno not in _NO_LINKS:
                raise
        renamed = rename_exclusively(temporary, path)
        return self._create_exclusively(path, data) if renamed is None else renamed

    def _create_exclusively(self, path: str, data: bytes) -> bool:
        # With neither, a reader may see the file before it is complete, but still only one writer makes it.
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        self._fill(descriptor, data)
        return True

    def _temporary(self, path: str, data: bytes) -> str:
        directory, name = os.path.split(path)
        temporary = os.path.join(directory, f".{name}.{uuid4()}.tmp")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            descriptor = os.open(temporary, flags, 0o666)
        except FileNotFoundError:
            self._make_directory(directory)
            descriptor = os.open(temporary, flags, 0o666)
        try:
            self._fill(descriptor, data)
        except BaseException:
            _discard(temporary)
            raise
        return temporary

    def _fill(self, descriptor: int, data: bytes) -> None:
        with open(descriptor, "wb", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]

    def exists(self, path: str) -> bool:
        """See ``FileIO.exists``."""
        with storage_errors(path):
            try:
                os.stat(path)
            except (FileNotFoundError, NotADirectoryError):
                return False
            return True

    def list(self, path: str) -> list[FileStatus]:
        """See ``FileIO.list``."""
        found = []
        with storage_errors(path):
            try:
                entries = os.scandir(path)
            except (FileNotFoundError, NotADirectoryError):
                return []
            with entries:
                for entry in entries:
                    try:
                        info = entry.stat()
                    except FileNotFoundError:  # removed meanwhile
                        continue
                    except OSError:  # a link to itself, say: reading it fails, and the rest can be read
                        info = entry.stat(follow_symlinks=False)
                    is_dir = stat.S_ISDIR(info.st_mode)
                    size = 0 if is_dir else info.st_size
                    found.append(FileStatus(entry.path, entry.name, size, is_dir, info.st_mtime_ns // 10**6))
        return sorted(found, key=lambda one: one.name)

    def delete(self, path: str) -> bool:
        """See ``FileIO.delete``."""
        with storage_errors(path):
            try:
                os.unlink(path)
            except (FileNotFoundError, NotADirectoryError):
                return False
            return True

    def delete_tree(self, path: str) -> bool:
        """See ``FileIO.delete_tree``."""
        with storage_errors(path):
            if not os.path.lexists(path):
                return False
            for _ in range(3):
                try:
                    shutil.rmtree(path)
                    return True
                except FileNotFoundError:  # another process removes the same tree
                    if not os.path.lexists(path):
                        return True
                except OSError as error:
                    if error.errno != errno.ENOTEMPTY:  # another process added a file meanwhile
                        raise
            shutil.rmtree(path)
            return True

    def delete_empty_dir(self, path: str) -> bool:
        """See ``FileIO.delete_empty_dir``."""
        with storage_errors(path):
            try:
                os.rmdir(path)
            except OSError as error:
                if error.errno in _NOT_EMPTY:
                    return False
                raise
            return True

    def rename(self, src: str, dst: str) -> bool:
        """See ``FileIO.rename``. Of two racing renames of filled directories onto one name, one returns False."""
        with storage_errors(src):
            if os.path.lexists(dst):
                return False
            self._make_directory(os.path.dirname(dst))
            if not os.path.isdir(src):
                return self._rename_file(src, dst)
            try:
                os.rename(src, dst)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    return False
                raise
            return True

    def _rename_file(self, src: str, dst: str) -> bool:
        try:
            os.link(src, dst)
        except FileExistsError:
            return False
        except OSError as error:
            renamed = rename_exclusively(src, dst) if error.errno in _NO_LINKS else None
            if renamed is None:
                raise
            return renamed
        os.unlink(src)
        return True

    def mkdirs(self, path: str) -> None:
        """See ``FileIO.mkdirs``."""
        with storage_errors(path):
            self._make_directory(path)

    def _make_directory(self, path: str) -> None:
        """Make a directory and those above it, but none of a table whose folder is not there."""
        root = self.root
        if root is None or not f"{path}/".startswith(f"{root}/"):
            os.makedirs(path, exist_ok=True)
            return
        for _ in range(_ATTEMPTS):
            if not os.path.isdir(root):
                raise StorageError(
                    path,
                    "the folder of the table is not there, so others dropped or renamed the table meanwhile",
                    hint="Nothing was written. Run the statement again if the table is to be written under its name.",
                )
            with suppress(FileNotFoundError):  # others removed one of them, or the root
                _make_below(root, path)
                return

    def size(self, path: str) -> int:
        """See ``FileIO.size``."""
        with storage_errors(path):
            return os.stat(path).st_size

    def open_input(self, path: str) -> pa.NativeFile:
        """See ``FileIO.open_input``."""
        import pyarrow as pa

        with storage_errors(path):
            return pa.OSFile(path, "rb")

    def open_output(self, path: str) -> pa.NativeFile:
        """See ``FileIO.open_output``."""
        import pyarrow as pa

        with storage_errors(path):
            for _ in range(_ATTEMPTS):
                self._make_directory(os.path.dirname(path))
                with suppress(FileNotFoundError):  # another process removed the directory, which was empty
                    return pa.OSFile(path, "wb")
            return pa.OSFile(path, "wb")

    def local_path(self, path: str) -> str:
        """The path itself."""
        return path


def _make_below(root: str, path: str) -> None:
    """Make the directories from an existing one to one below it, each by itself, so that `root` is never made."""
    missing = []
    while path != root and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for one in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(one)


def _discard(path: str) -> None:
    # A hidden left-over is harmless; the original failure is raised.
    with suppress(OSError):
        os.unlink(path)
