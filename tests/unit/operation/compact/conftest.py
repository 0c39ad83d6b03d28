"""A table to compact."""

from __future__ import annotations

import pytest
from support.scheduled import three_runs


@pytest.fixture
def table(tmp_path):
    """Two partitions of three runs each."""
    return three_runs(tmp_path)
