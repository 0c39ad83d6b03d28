"""A storage that knows which manifests were read, and how many of their entries were decoded."""

from __future__ import annotations

from tablestore_engine.metadata.manifest_encoding import avro_container
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.metadata_files import manifest_store


class ManifestReads(LocalFileIO):
    """Remembers which manifests it read."""

    def __init__(self):
        super().__init__()
        self.read_names = []

    def read(self, path):
        name = path.rpartition("/")[2]
        if name.startswith("manifest-") and not name.startswith("manifest-list-"):
            self.read_names.append(name)
        return super().read(path)

    def forget(self):
        """As a new process: no manifest was read, and none is in memory."""
        self.read_names.clear()
        manifest_store._cache.clear()


def counted_blocks(monkeypatch):
    """A list that gets the number of records of every block that is decoded from now on."""
    found = []
    blocks = avro_container._blocks

    def counted(*args):
        for number, count, block in blocks(*args):
            found.append(count)
            yield number, count, block

    monkeypatch.setattr(avro_container, "_blocks", counted)
    return found
