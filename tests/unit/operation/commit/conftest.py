"""A table to commit to."""

from __future__ import annotations

import pytest
from support.tables import keyed_table


@pytest.fixture
def table(tmp_path):
    """An empty table with the key `id`."""
    return keyed_table(tmp_path)
