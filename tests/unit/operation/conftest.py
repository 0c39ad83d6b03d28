"""A table with dynamic buckets, of which each takes four keys."""

from __future__ import annotations

import pytest
from support.dynamic_buckets import COLUMNS, DYNAMIC
from support.tables import make_table


@pytest.fixture
def dynamic(catalog):
    return make_table(catalog, COLUMNS, ["id"], options=DYNAMIC)
