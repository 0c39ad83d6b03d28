"""The columns of the target that a statement sees of rows that are looked up."""

from __future__ import annotations

import pytest

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField, parse_type
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.row_level.clauses.seen_columns import seen_by_delete, seen_by_merge, seen_by_update

COLUMNS = {"id": "INT NOT NULL", "day": "DATE", "a": "INT", "B": "STRING", "must": "INT NOT NULL", "s": "BIGINT"}
INSIDE = {"type": "ARRAY", "element": "INT NOT NULL"}
SOURCE = ("id", "day", "a", "b", "must", "s", "op")


def schema(key=("id",), **options):
    fields = tuple(DataField(i, name, parse_type(text)) for i, (name, text) in enumerate(COLUMNS.items()))
    named = {name.replace("_", "-"): value for name, value in options.items()}
    options = {"bucket": "1", **named}
    return TableSchema(0, fields, 9, partition_keys=("day",), primary_keys=key, options=options)


def merged(clauses, on="t.id = c.id", source="changes AS c", table=None):
    statement = parse(f"MERGE INTO db.t AS t USING {source} ON {on} {clauses}")
    return seen_by_merge(statement, table or schema(("day", "id")), SOURCE)


INSERTS = "WHEN NOT MATCHED THEN INSERT *"


@pytest.mark.parametrize(
    ("clauses", "seen"),
    [
        (INSERTS, "id day"),
        (f"WHEN MATCHED AND c.op = 'D' THEN DELETE WHEN MATCHED THEN UPDATE SET * {INSERTS}", "id day must"),
        ("WHEN MATCHED AND c.a > t.a THEN UPDATE SET *", "id day a must"),
        ("WHEN MATCHED AND `a` > 1 THEN DELETE", "id day a must"),
        ("WHEN MATCHED AND c.B > 1 AND s.x > 1 THEN DELETE", "id day must s"),
        ("WHEN MATCHED THEN UPDATE SET a = c.a, b = c.b, s = c.s", "id day must"),
        ("WHEN MATCHED THEN UPDATE SET a = c.a, b = c.b, s.x = c.a", "id day must s"),
        ("WHEN MATCHED THEN UPDATE SET a = c.a + 1, b = upper(b)", "id day B must s"),
        ("WHEN MATCHED AND c.op = 1 THEN UPDATE SET * WHEN MATCHED THEN UPDATE SET a = 1", "id day B must s"),
        ("WHEN MATCHED THEN UPDATE SET a = c.a, b = x.c.b, s = c.s", "id day B must"),
        ("WHEN MATCHED AND IDENTIFIER('t.a') > 1 THEN DELETE", None),
        ("WHEN MATCHED AND (SELECT count(*) FROM other) > 1 THEN DELETE", None),
        ("WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.a > 1 THEN DELETE", "id day a must"),
        (
            "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE AND t.a > 1 THEN UPDATE SET a = length(b)",
            "id day a B must s",
        ),
        ("WHEN NOT MATCHED BY SOURCE AND t.a > 1 THEN UPDATE SET a = 1, b = '', s = NULL", "id day a must"),
    ],
)
def test_a_merge(clauses, seen):
    assert merged(clauses) == (None if seen is None else seen.split())


def test_a_source_whose_name_is_that_of_a_column_too():
    """`s.x` may be a field of the target's column."""
    assert merged("WHEN MATCHED THEN UPDATE SET *", "t.id = s.id AND s.x > s.a", "changes AS s") == [
        "id", "day", "a", "must", "s"
    ]  # fmt: skip


def test_columns_that_the_source_does_not_have_keep_their_values():
    statement = parse("MERGE INTO t USING c ON t.id = c.id WHEN MATCHED AND c.a > 1 THEN UPDATE SET *")
    assert seen_by_merge(statement, schema(("day", "id")), ("id", "day", "a", "must")) == [
        "id",
        "day",
        "B",
        "must",
        "s",
    ]


def test_delete_and_update():
    table = schema(("day", "id"))
    assert seen_by_delete(table)(None) == ["id", "day", "must"]
    assert seen_by_delete(table)("upper(b) = 'X' AND t.s.x = 1") == ["id", "day", "B", "must", "s"]
    assignments = parse("UPDATE t SET a = a + 1, s = NULL WHERE b = ''").assignments
    assert seen_by_update(table, assignments)(None) == ["id", "day", "a", "B", "must"]
    assignments = parse("UPDATE t SET a = 1, B = '', s.x = 5").assignments  # other fields of s stay
    assert seen_by_update(table, assignments)(None) == ["id", "day", "must", "s"]
    assignments = parse("UPDATE t SET a = 1, B = '', s = NULL").assignments
    assert seen_by_update(table, assignments)("s.x > 1") == ["id", "day", "must", "s"]


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"sequence.field": "a"}, ["id", "day", "a", "must"]),
        ({"changelog_producer": "lookup"}, ["id", "day", "must"]),
        ({"deletion-vectors.enabled": "true"}, ["id", "day", "must"]),
        # Each value of the record is used.
        ({"changelog_producer": "input"}, None),
        ({"log.system": "kafka"}, None),
        ({"rowkind.field": "B"}, None),
        ({"merge_engine": "aggregation"}, None),
        ({"merge_engine": "partial-update", "partial-update.remove-record-on-delete": "true"}, None),
    ],
)
def test_records_that_remove_rows(options, seen):
    assert seen_by_delete(schema(("day", "id"), **options))(None) == seen


def test_values_that_have_parts_which_cannot_be_null_are_read():
    """Arrow makes no null of such a type."""
    columns = [("id", "INT"), ("v", "VARIANT"), ("l", INSIDE), ("n", {"type": "ARRAY", "element": "INT"})]
    fields = tuple(DataField(at, name, parse_type(kind)) for at, (name, kind) in enumerate(columns))
    table = TableSchema(0, fields, 9, partition_keys=(), primary_keys=("id",), options={"bucket": "1"})
    assert seen_by_delete(table)(None) == ["id", "v", "l"]
