"""An empty warehouse. Unit tests do not start Spark: a test that needs a session is in tests/spark."""

from __future__ import annotations

import pytest

from tablestore_engine.catalog import Catalog


@pytest.fixture
def catalog(tmp_path):
    """The catalog of an empty warehouse."""
    return Catalog(tmp_path)


@pytest.fixture
def folder(tmp_path):
    """An empty folder, by its name."""
    return str(tmp_path)
