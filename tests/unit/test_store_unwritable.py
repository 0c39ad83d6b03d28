"""A warehouse that cannot be written to is one clear error for each statement, for every user; also for root."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

import pytest
from support.tables import no_spark, write

from tablestore_engine.catalog import Catalog, View
from tablestore_engine.errors import StorageError
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.store import TableStore

STATEMENTS = [
    "CREATE SCHEMA s",
    "CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED)",
    "CREATE OR REPLACE TABLE t (id INT)",
]


@dataclass(frozen=True)
class NoPermission(LocalFileIO):
    """Lets nobody write."""

    def _refuse(self, path):
        raise StorageError.of(path, PermissionError(errno.EACCES, "Permission denied"))

    def write(self, path, data):
        self._refuse(path)

    def create(self, path, data):
        self._refuse(path)

    def mkdirs(self, path):
        self._refuse(path)

    def rename(self, src, dst):
        self._refuse(src)

    def delete(self, path):
        self._refuse(path)

    def delete_tree(self, path):
        self._refuse(path)


def said(store, text):
    with pytest.raises(StorageError) as caught:
        store.execute(text)
    assert caught.value.path.startswith(store.catalog.warehouse)
    return str(caught.value)


@pytest.mark.parametrize("text", STATEMENTS)
def test_below_a_file(tmp_path, text):
    (tmp_path / "file").write_text("mine")
    store = TableStore(tmp_path / "file" / "warehouse", session_factory=no_spark)
    assert "Not a directory" in said(store, text)
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
@pytest.mark.parametrize("text", STATEMENTS)
def test_in_a_file_system_in_which_nobody_can_make_folders(text):
    store = TableStore("/proc/warehouse", session_factory=no_spark)
    assert said(store, text).startswith("Storage failure at /proc/warehouse")


@pytest.mark.parametrize(
    "text",
    [
        *STATEMENTS,
        "ALTER TABLE kept ADD COLUMNS (b INT)",
        "ALTER TABLE kept RENAME TO other",
        "COMMENT ON TABLE kept IS 'mine'",
        "DROP TABLE kept",
        "DROP VIEW seen",
        "DELETE FROM kept",
        "TRUNCATE TABLE kept",
    ],
)
def test_without_permission(tmp_path, text):
    store = TableStore(tmp_path, session_factory=no_spark)
    store.execute("CREATE TABLE kept (a INT)")
    write(store.table("kept"), [{"a": 1}])
    store.catalog.create_view("default", "seen", View("SELECT 1 AS a", "default"))
    before = sorted(os.walk(tmp_path))
    store.catalog = Catalog(tmp_path, NoPermission())
    text = said(store, text)
    assert "Permission denied" in text
    assert text.endswith("Check that the user of this process may read and write there.")
    assert sorted(os.walk(tmp_path)) == before
