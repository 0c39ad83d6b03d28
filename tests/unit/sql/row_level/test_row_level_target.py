"""The predicates on the table's rows that follow from conditions of UPDATE, DELETE and MERGE."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from support.tables import commit_kinds, keyed_arrow, keyed_table, read, rows, write

from tablestore_engine.operation.write_job.write_intent import PLAIN
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.sql.query.bind import references
from tablestore_engine.sql.row_level.row_level_target import predicate_on, target_of

VECTORS = {"bucket": "1", "deletion-vectors.enabled": "true"}
TABLE = SimpleNamespace(identifier=("Db", "t"), schema=create_schema([("a", parse_type("INT"), None)]))


@pytest.mark.parametrize(
    ("condition", "alias", "alone", "said"),
    [
        ("a = 1", None, True, "a = 1"),
        ("a = 1", None, False, None),
        ("cast(a as bigint) = 1 AND t.a::string = '1'", None, True, "a = 1"),
        ("t.a = 1 AND s.b = 2", None, False, "a = 1"),
        ("T.a = 1 AND db.t.b > 2", None, False, "a = 1 AND b > 2"),
        ("other.t.a = 1", None, False, None),
        ("x.a = 1 AND t.b = 2", "x", False, "a = 1"),
        ("`x y`.a = 1", "x y", False, "a = 1"),
        ("t.a = s.a AND t.day = DATE '2024-01-01'", None, False, "day = DATE '2024-01-01'"),
        ("t.a = 1 OR s.a = 2", None, False, None),
        ("t.a = 1 OR t.a = 2", None, False, "a = 1 OR a = 2"),
        ("NOT t.a = 1", None, False, None),
        ("CASE WHEN t.a THEN end AND t.b = 1 AND c END", None, True, None),
        ("t.a IN (SELECT a FROM s WHERE b = 1) AND t.c < 3", None, True, "c < 3"),
        ("when.a = 1 AND when.b = then.b", "when", False, "a = 1"),
        ("(" * 2000 + "a = 1" + ")" * 2000, None, True, None),
    ],
)
def test_the_predicate_of_a_condition_is_found(condition, alias, alone, said):
    expected = said and references(f"SELECT * FROM t WHERE {said}")[0].predicate
    assert repr(predicate_on(TABLE, alias, condition, alone=alone)) == repr(expected)


@pytest.mark.parametrize("explaining", [False, True])
def test_rows_that_wait_for_a_compaction_are_read_unless_nothing_is_run(tmp_path, explaining):
    table = keyed_table(tmp_path, VECTORS)
    table.write(keyed_arrow(1, 1))
    for value in (6, 7):  # two, so that their compaction writes a file
        write(table, rows([1], value))
    frames = SimpleNamespace(explaining=explaining, spark=None, pin=lambda one: one.latest_snapshot())
    shown = table.with_names(["key", "value"])  # a view's
    target = target_of(frames, shown, None, None, PLAIN)
    assert commit_kinds(table) == ["APPEND"] * 3 + ([] if explaining else ["COMPACT"])
    assert target.snapshot == table.latest_snapshot()
    assert read(table) == rows([1], 1 if explaining else 7)
    assert {e.file.schema_id for e in table.live_files()} == {table.schema.id}
