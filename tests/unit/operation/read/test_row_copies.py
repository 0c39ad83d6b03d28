"""How often a table without a key has some rows, and what is read for that."""

from __future__ import annotations

import pytest
from support.tables import DELETE, arrow_rows, make_table, reload

from tablestore_engine.operation.read import row_copies
from tablestore_engine.operation.read.row_copies import copies_of
from tablestore_engine.operation.scan.plan_scan import plan_scan
from tablestore_engine.schema.table.schema_changes import AddColumn, RetypeColumn
from tablestore_engine.schema.types.types import parse_type


def copies(table, *rows):
    now = reload(table)
    plan = plan_scan(now.state, now.latest_snapshot())
    return copies_of(now.state, plan.buckets, arrow_rows(now.schema, list(rows))).tolist()


def one(number, v=0):
    return {"id": number, "v": v}


def test_counts_follow_all_files(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})
    assert copies(table, one(1)) == [0]
    table.write(arrow_rows(table.schema, [one(1), one(1), one(2), one(None)]))
    reload(table).write(arrow_rows(table.schema, [one(1), one(9)], [DELETE, DELETE]))
    assert copies(table, one(1), one(2), one(3), one(1, 5), one(9)) == [1, 1, 0, 0, -1]
    assert copies(table, one(None), one(1)) == [1, 1]
    assert copies(table, one(None), {"id": 1, "v": None}) == [1, 0]


def test_older_files_have_other_types_and_fewer_columns(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT"})
    table.write(arrow_rows(table.schema, [one(1), one(2)]))
    table = table.alter(RetypeColumn("id", parse_type("BIGINT"))).alter(AddColumn("s", parse_type("STRING")))
    table.write(arrow_rows(table.schema, [{**one(1), "s": "x"}]))
    assert copies(table, {**one(1), "s": None}, {**one(1), "s": "x"}, {**one(2), "s": "x"}) == [1, 1, 0]
    assert copies(table, {**one(1), "s": "x"}) == [1]


@pytest.mark.parametrize(("column", "values"), [("INT", (5, 15, 25)), ("STRING", ("5a", "5b", "5c"))])
def test_files_are_skipped_by_their_statistics(tmp_path, monkeypatch, column, values):
    table = make_table(tmp_path, {"id": column, "v": "INT"})
    for value in values:
        reload(table).write(arrow_rows(table.schema, [one(value)]))
    read, found = row_copies.records_of_keys, []
    monkeypatch.setattr(row_copies, "records_of_keys", lambda *given: found.append(given) or read(*given))
    assert copies(table, one(values[1])) == [1]
    assert len(found) == 1
