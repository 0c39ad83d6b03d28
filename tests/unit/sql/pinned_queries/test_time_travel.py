"""VERSION AS OF: a tag is named as a text, as a word, or in backquotes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tablestore_engine import TableStore
from tablestore_engine.errors import TagNotFound
from tablestore_engine.sql.pinned_queries.time_travel import snapshot_of
from tablestore_engine.sql.query_structure.query_structure import TimeTravel


@pytest.fixture
def table(tmp_path):
    store = TableStore(tmp_path)
    store.create_table("t", {"id": "int"})
    for tag in ("cd", "one two"):
        store.table("t").write(pa.table({"id": pa.array([1], pa.int32())}))
        store.table("t").create_tag(tag)
    return store.table("t")


@pytest.mark.parametrize(
    ("version", "snapshot"),
    [("'cd'", 1), ('"cd"', 1), ("cd", 1), ("`cd`", 1), ("'one two'", 2), ("`one two`", 2), ("2", 2)],
)
def test_a_version(table, version, snapshot):
    assert snapshot_of(table, TimeTravel(version_sql=version), pytest.fail).id == snapshot


def test_a_tag_that_is_not_there_is_named_without_its_quotes(table):
    for version in ("'ab'", "`ab`"):
        with pytest.raises(TagNotFound, match=r"^Tag 'ab' of table \S+ does not exist"):
            snapshot_of(table, TimeTravel(version_sql=version), pytest.fail)
