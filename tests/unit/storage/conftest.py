"""Paths of a table that has no files yet."""

from __future__ import annotations

import pytest

from tablestore_engine.storage.paths import TablePaths


@pytest.fixture
def paths(tmp_path):
    return TablePaths(str(tmp_path))
