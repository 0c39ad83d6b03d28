"""Views and functions are records of one store."""

from __future__ import annotations

import pytest

from tablestore_engine.catalog import View
from tablestore_engine.catalog.view_and_function_store import FUNCTIONS, VIEWS, RecordStore
from tablestore_engine.errors import FunctionAlreadyExists, FunctionNotFound, TableAlreadyExists, ViewNotFound
from tablestore_engine.metadata.warehouse.function import FunctionDefinition
from tablestore_engine.storage.file_io import LocalFileIO
from tablestore_engine.storage.paths import WarehousePaths

VIEW = View("SELECT 1 AS x", "default")
FUNCTION = FunctionDefinition((), "INT", "SQL", "1").named("default", "Two")


@pytest.mark.parametrize(
    ("kind", "record", "noun", "already_exists", "not_found"),
    [
        (VIEWS, VIEW, "View", TableAlreadyExists, ViewNotFound),
        (FUNCTIONS, FUNCTION, "Function", FunctionAlreadyExists, FunctionNotFound),
    ],
    ids=["view", "function"],
)
def test_the_life_of_a_record(tmp_path, kind, record, noun, already_exists, not_found):
    stored = RecordStore(kind, LocalFileIO(), WarehousePaths(str(tmp_path)))
    stored.create("default", "Two", record)
    assert stored.load("default", "tWO") == record
    assert (stored.names("default"), stored.exists("default", "TWO")) == (["two"], True)

    with pytest.raises(already_exists, match=rf"{noun} 'default\.Two' exists already.*REPLACE {noun.upper()}"):
        stored.create("default", "Two", record)
    stored.create("default", "Two", record, if_not_exists=True)
    stored.create("default", "Two", record, replace=True)

    with pytest.raises(not_found, match=rf"{noun} 'default\.tow' does not exist.*Did you mean 'two'"):
        stored.load("default", "tow")
    with pytest.raises(not_found, match="Did you mean 'two'"):
        stored.drop("default", "tow")
    stored.drop("default", "tow", if_exists=True)
    stored.drop("default", "TWO")
    assert stored.names("default") == []
