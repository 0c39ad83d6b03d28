"""Columns that were added while somebody works with the table as it was before: no value of theirs gets lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.invariants import check_invariants
from support.scheduled import NOW, run
from support.tables import arrow_rows, compact, identity, make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import ConflictError
from tablestore_engine.metadata.compaction_plan import PlanState
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind
from tablestore_engine.operation.commit.commit import Change, Committer
from tablestore_engine.operation.compact.schedule_compaction import schedule
from tablestore_engine.schema.table.schema_changes import AddColumn
from tablestore_engine.schema.types.types import parse_type

COLUMNS = {"id": "INT", "v": "STRING"}


def widened(table):
    """The same table with a column `n`; the given one does not know it."""
    catalog = Catalog(table.path.rsplit("/", 2)[0])
    return catalog.alter_table(*table.identifier, [AddColumn("n", parse_type("INT"))])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {1: ("b", 2), 2: ("a", None), 3: ("c", 3)}),
        ({"merge-engine": "first-row"}, {1: ("a", None), 2: ("a", None), 3: ("c", 3)}),
        ({"merge-engine": "partial-update"}, {1: ("b", 2), 2: ("a", None), 3: ("c", 3)}),
        ({"bucket": "-1", "dynamic-bucket.target-row-num": "2"}, {1: ("b", 2), 2: ("a", None), 3: ("c", 3)}),
    ],
    ids=str,
)
@pytest.mark.parametrize("planned", [False, True])
def test_a_compaction_that_does_not_know_the_column(tmp_path, options, expected, planned):
    """A process that loaded the table before ALTER TABLE compacts it after rows with the column were written."""
    old = make_table(tmp_path, COLUMNS, ["id"], options={"bucket": "1"} | options)
    write(old, [{"id": 1, "v": "a"}, {"id": 2, "v": "a"}])
    wider = widened(old)
    write(wider, [{"id": 1, "v": "b", "n": 2}, {"id": 3, "v": "c", "n": 3}])
    if planned:
        assert schedule(old.state, "full", NOW) is not None
        assert run(old).outcome.state is PlanState.COMPLETED
    else:
        assert compact(old) is not None
    assert {row["id"]: (row["v"], row["n"]) for row in read(wider)} == expected
    check_invariants(wider)


@pytest.mark.parametrize("key", [["id"], []], ids=["keyed", "append"])
def test_changes_that_were_computed_without_the_column_conflict(tmp_path, key):
    old = make_table(tmp_path, COLUMNS, key, options={"bucket": "1"} if key else {})
    write(old, [{"id": 1, "v": "a"}])
    wider = widened(old)
    snapshot = wider.write(arrow_rows(wider.schema, [{"id": 2, "v": "b", "n": 2}]))
    files = wider.live_files()
    removed = tuple(replace(e, kind=FileKind.DELETE) for e in files)
    for change in (
        Change("APPEND", read_snapshot=snapshot.id),
        Change("OVERWRITE", removed=removed),
        # As of a compaction that read these files and wrote another one without the column.
        Change("COMPACT", (replace(files[0], file=replace(files[0].file, file_name="f", schema_id=0)),), removed),
    ):
        with pytest.raises(ConflictError, match="columns of the table were changed"):
            Committer(old.state).commit(change, identity())
    old.write(arrow_rows(old.schema, [{"id": 3, "v": "c"}]))
    assert {row["id"]: row["n"] for row in read(wider)} == {1: None, 2: 2, 3: None}
    # With a schema that knows it, the same goes.
    Committer(wider.state).commit(
        Change("OVERWRITE", removed=removed, read_snapshot=wider.latest_snapshot().id), identity()
    )
    assert {row["id"] for row in read(wider)} == {3}
