"""A FileIO that names its steps and fails at one of them.

Vocabulary: a *step* is one operation that changes the storage, named after its file and how often that was
changed before: `write manifest 2`, `create snapshot 3`, `rename table`, `open data`. A *fault* strikes before a step
(nothing happened) or after it (it happened, and the caller does not learn it). `raise` gives a StorageError, `die`
ends the process at once, as kill -9 would.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field

from support.fault.die import die
from tablestore_engine.errors import StorageError
from tablestore_engine.storage.file_io import LocalFileIO


@dataclass(frozen=True)
class Fault:
    """Where to fail: at a step, `before` or `after` it happens, by `raise` or `die`; `lasting` fails ever after."""

    step: str
    when: str = "before"
    how: str = "raise"
    lasting: bool = False


def kind_of(path: str) -> str:
    """What a path is to a table."""
    name, directory = os.path.basename(path), os.path.basename(os.path.dirname(path))
    if name in ("LATEST", "EARLIEST"):
        return f"hint {name.lower()}"
    numbered = re.fullmatch(r"(snapshot|schema)-(\d+)", name)
    if numbered:
        return f"{numbered[1]} {numbered[2]}"
    noted = re.fullmatch(r"\d{17}\.([a-z]+)(\.\d+)?", name)
    if noted:
        return f"compaction {noted[1]}"
    if name.startswith("build-"):
        return "mark"
    if name.startswith("manifest-list-"):
        return "list"
    if name.startswith("manifest-"):
        return "manifest"
    if name.startswith(("data-", "bucket-")) or directory.startswith("bucket-"):
        return "data"
    if name in ("schema", "snapshot", "manifest") or name.endswith(".db"):
        return "directory"
    if directory == ".builds":
        return f"build {name.rpartition('.')[2]}"
    if directory == ".views":
        return "view"
    return "table"


@dataclass
class FaultInjectingFileIO:
    """Wraps a FileIO; records its steps in `steps` and fails at `fault`."""

    inner: LocalFileIO = field(default_factory=LocalFileIO)
    fault: Fault | None = None
    steps: list[str] = field(default_factory=list)
    struck: bool = False
    _counts: Counter = field(default_factory=Counter)

    def _step(self, verb, path, action):
        name = f"{verb} {kind_of(path)}"
        self._counts[name] += 1
        if self._counts[name] > 1:
            name = f"{name} {self._counts[name]}"
        self.steps.append(name)
        fault = self.fault
        if fault is None:
            return action()
        if self.struck and fault.lasting:
            raise StorageError(path, "injected: the storage is lost")
        if name != fault.step:
            return action()
        if fault.when == "before":
            self._strike(path)
        result = action()
        self._strike(path)
        return result

    def _strike(self, path):
        self.struck = True
        if self.fault.how == "die":
            die()
        raise StorageError(path, f"injected fault {self.fault.when} {self.fault.step}")

    def _look(self, path):
        if self.struck and self.fault.lasting:
            raise StorageError(path, "injected: the storage is lost")

    def write(self, path, data):
        self._step("write", path, lambda: self.inner.write(path, data))

    def create(self, path, data):
        return self._step("create", path, lambda: self.inner.create(path, data))

    def delete(self, path):
        return self._step("delete", path, lambda: self.inner.delete(path))

    def delete_tree(self, path):
        return self._step("delete tree", path, lambda: self.inner.delete_tree(path))

    def delete_empty_dir(self, path):
        return self._step("delete empty dir", path, lambda: self.inner.delete_empty_dir(path))

    def rename(self, src, dst):
        return self._step("rename", src, lambda: self.inner.rename(src, dst))

    def mkdirs(self, path):
        self._step("mkdirs", path, lambda: self.inner.mkdirs(path))

    def open_output(self, path):
        return self._step("open", path, lambda: self.inner.open_output(path))

    def read(self, path):
        self._look(path)
        return self.inner.read(path)

    def exists(self, path):
        self._look(path)
        return self.inner.exists(path)

    def list(self, path):
        self._look(path)
        return self.inner.list(path)

    def size(self, path):
        self._look(path)
        return self.inner.size(path)

    def open_input(self, path):
        self._look(path)
        return self.inner.open_input(path)

    def local_path(self, path):
        return self.inner.local_path(path)
