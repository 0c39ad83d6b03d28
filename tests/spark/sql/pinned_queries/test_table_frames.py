"""Frames that a session keeps for later statements."""

from __future__ import annotations

import pytest
from support.spark_rows import rows

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("kept", ["kept", "cached"])
def test_computed_columns_follow_the_settings_of_the_session(store, kept):
    """Spark resolves an expression by the settings that the session has then."""
    store.execute("SET TIME ZONE 'UTC'")
    store.execute("CREATE TABLE t (id INT, text STRING, at TIMESTAMP, hour AS hour(at), number AS cast(text AS INT))")
    store.execute("INSERT INTO t VALUES (1, '5', timestamp'2026-01-01 12:00:00')")
    if kept == "cached":
        store.execute("CACHE TABLE t")
    assert rows(store, "SELECT hour, number FROM t") == [(12, 5)]
    store.execute("SET TIME ZONE 'Asia/Tokyo'")
    assert rows(store, "SELECT hour FROM t WHERE hour = 21") == [(21,)]
    assert rows(store, "SELECT hour, hour(at) FROM t") == [(21, 21)]
    store.execute("INSERT INTO t VALUES (2, 'x', timestamp'2026-01-01 12:00:00')")
    store.execute("SET spark.sql.ansi.enabled = true")
    with pytest.raises(Exception, match=r"CAST_INVALID_INPUT|cannot be cast"):
        rows(store, "SELECT number FROM t")
    store.execute("SET spark.sql.ansi.enabled = false")
    assert rows(store, "SELECT id, hour, number FROM t") == [(1, 21, 5), (2, 12, None)]
