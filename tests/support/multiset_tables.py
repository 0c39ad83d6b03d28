"""Checks of tables without a key that take retractions."""

from __future__ import annotations

from collections import Counter

from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.spark_rows import rows


def check(store, name="t", *, values=True):
    """The table through Spark, through Arrow and by its statistics; not `values` that the two show in their own
    ways."""
    table = store.table(name)
    check_invariants(table)
    assert live_paths(table) <= data_files(table)
    through_arrow = [tuple(row.values()) for row in table.to_arrow().to_pylist()]
    through_spark = rows(store, f"SELECT * FROM {name}")
    assert len(through_arrow) == len(through_spark)
    if values:
        assert Counter(map(repr, through_arrow)) == Counter(map(repr, through_spark))
    assert table.statistics().row_count == len(through_spark)
    assert store.sql(f"SELECT count(*) FROM {name}").collect()[0][0] == len(through_spark)
    return table
