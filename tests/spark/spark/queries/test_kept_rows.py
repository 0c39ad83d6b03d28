"""Rows that a statement keeps are computed once, whatever other statements with the same query do."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.queries.kept_rows import kept

pytestmark = pytest.mark.spark


@pytest.fixture
def noted(store, tmp_path):
    """One row, and a function that says how often it was computed."""
    path = tmp_path / "computed"
    path.touch()

    def note(batches):
        with path.open("a", encoding="utf-8") as file:
            file.write("x")
        yield from batches

    frame = store.spark.range(1, numPartitions=1).mapInArrow(note, "id long")
    return frame, lambda: len(path.read_text(encoding="utf-8"))


def test_another_statement_with_the_same_query_does_not_drop_them(noted):
    frame, computed = noted
    with kept(frame) as rows:
        assert rows.count() == 1
        with kept(frame) as others:
            assert others.count() == 1
        assert [row.id for row in rows.collect()] == [0]
        assert rows.select("id").where("id = 0").count() == 1
    assert computed() == 2


def test_a_view_of_them_reads_them(store, noted):
    frame, computed = noted
    with kept(frame) as rows:
        rows.createOrReplaceTempView("kept_rows")
        joined = "SELECT a.id FROM kept_rows a JOIN kept_rows b ON a.id = b.id WHERE a.id IN (SELECT id FROM kept_rows)"
        assert [row.id for row in store.spark.sql(joined).collect()] == [0]
        assert store.spark.table("kept_rows").count() == 1
    assert computed() == 1
