"""A table whose snapshots and files are removed on demand only."""

from __future__ import annotations

import pytest
from support.tables import partitioned_table


@pytest.fixture
def table(tmp_path):
    return partitioned_table(tmp_path, {"bucket": "1", "write-only": "true"})
