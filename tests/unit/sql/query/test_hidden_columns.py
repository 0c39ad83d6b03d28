"""Which hidden columns the expressions of a statement name."""

from __future__ import annotations

import pytest

from tablestore_engine.sql.query.hidden_columns import hidden_names


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["v > 1", None], ()),
        (["__paimon_bucket = 1 AND t.__PAIMON_ROW_INDEX < 3"], ("__paimon_row_index", "__paimon_bucket")),
        (["coalesce(`__paimon_partition`.p, 1) = 1", "__paimon_bucket"], ("__paimon_partition", "__paimon_bucket")),
        (["v = '__paimon_bucket' -- __paimon_bucket"], ()),
        (["id IN (SELECT __paimon_bucket FROM o) OR (__paimon_file_path) IS NULL"], ("__paimon_file_path",)),
    ],
)
def test_names(texts, expected):
    assert hidden_names(texts) == expected
