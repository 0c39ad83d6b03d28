"""Tables: one with dynamic buckets, of which each takes four keys, and one from which nothing is removed unasked."""

from __future__ import annotations

import pytest
from support.dynamic_buckets import COLUMNS, DYNAMIC
from support.tables import make_table, partitioned_table


@pytest.fixture
def dynamic(catalog):
    return make_table(catalog, COLUMNS, ["id"], options=DYNAMIC)


@pytest.fixture
def table(tmp_path):
    """A table whose snapshots and files are removed on demand only."""
    return partitioned_table(tmp_path, {"bucket": "1", "write-only": "true"})
