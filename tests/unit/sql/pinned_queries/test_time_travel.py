"""VERSION AS OF: a tag is named as a text, as a word, or in backquotes."""

from __future__ import annotations

from datetime import datetime, timezone
from types import SimpleNamespace

import pyarrow as pa
import pytest

from tablestore_engine import TableStore
from tablestore_engine.errors import SqlError, TagNotFound
from tablestore_engine.sql.pinned_queries.time_travel import bound_of, snapshot_of
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


@pytest.mark.parametrize(
    ("answer", "bound"),
    [
        ((2000, "int", "2"), "2"),
        ((-1000, "int", "-1"), None),
        ((1500, "decimal(2,1)", "1.5"), None),
        ((None, "double", "NaN"), None),
        ((None, "int", None), None),
        ((None, "string", "soon"), None),
        ((5000, "string", "1970-01-01 00:00:05"), datetime.fromtimestamp(5, timezone.utc)),
    ],
)
def test_a_bound_that_is_computed(table, answer, bound):
    """A number is the id of a snapshot, and never a time, which Spark would make of it."""
    evaluated = lambda sql: SimpleNamespace(first=lambda: answer)  # noqa: E731
    if bound is not None:
        assert bound_of(table, "f()", evaluated) == bound
        return
    with pytest.raises(SqlError, match=r"^f\(\) is (no snapshot|neither a snapshot)"):
        bound_of(table, "f()", evaluated)


def test_a_bound_of_a_type_that_no_time_has(table):
    """Spark's own error is about the cast, which nobody wrote; another one is about what somebody wrote."""

    def failing(text):
        def run(sql):
            raise SqlError(text)

        return run

    mismatch = '[DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION] Cannot resolve "TRY_CAST(true AS TIMESTAMP)" due to …'
    with pytest.raises(SqlError, match=r"^true is neither a snapshot nor a tag nor a time"):
        bound_of(table, "true", failing(mismatch))
    with pytest.raises(SqlError, match=r"^TIMESTAMP AS OF true.* is not a time"):
        snapshot_of(table, TimeTravel(timestamp_sql="true"), failing(mismatch))
    with pytest.raises(SqlError, match="nosuch"):
        bound_of(table, "nosuch()", failing("[UNRESOLVED_ROUTINE] Cannot resolve routine `nosuch`"))
