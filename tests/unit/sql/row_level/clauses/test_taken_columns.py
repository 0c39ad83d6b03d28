"""The columns of a source that the clauses of a MERGE take."""

from __future__ import annotations

import pytest

from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import DataField, RowType, parse_type
from tablestore_engine.sql.parse.parse import parse
from tablestore_engine.sql.row_level.clauses.taken_columns import assigned_columns, taken_columns


def row(**kinds):
    fields = (parse_type(kind) if isinstance(kind, str) else kind for kind in kinds.values())
    return RowType(tuple(DataField(i, name, kind) for i, (name, kind) in enumerate(zip(kinds, fields, strict=True))))


TARGET = {"id": parse_type("INT"), "v": parse_type("INT"), "s": row(a="INT", b=row(c="INT"))}
SCHEMA = TableSchema(
    id=0,
    fields=tuple(DataField(i, name, kind) for i, (name, kind) in enumerate(TARGET.items())),
    highest_field_id=20,
    partition_keys=(),
    primary_keys=(),
    options={},
)
SOURCE = [
    ("ID", parse_type("BIGINT"), None),
    ("v", parse_type("BIGINT"), None),
    ("s", row(a="BIGINT", b=row(c="BIGINT", d="INT"), e="INT"), "words"),
    ("w", parse_type("STRING"), None),
]


def shown(kind):
    return "|".join(f"{f.name}{'(' + shown(f.type) + ')' if isinstance(f.type, RowType) else ''}" for f in kind.fields)


def taken(clauses, using="db.changes AS q"):
    statement = parse(f"MERGE INTO db.t AS t USING {using} ON t.id = q.id {clauses}")
    found = taken_columns(statement, SCHEMA, SOURCE)
    return " ".join(f"{name}({shown(kind)})" if isinstance(kind, RowType) else name for name, kind, _ in found)


@pytest.mark.parametrize(
    ("clauses", "found"),
    [
        ("WHEN MATCHED THEN UPDATE SET *", "ID v s(a|b(c|d)|e) w"),
        ("WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT *", "ID v s(a|b(c|d)|e) w"),
        ("WHEN MATCHED THEN UPDATE SET s.b.c = 7 WHEN NOT MATCHED THEN INSERT (id) VALUES (q.id)", "ID"),
        ("WHEN MATCHED THEN UPDATE SET s = q.s, v = q.v", "v s(a|b(c|d)|e)"),
        ("WHEN MATCHED THEN UPDATE SET s.b = q.S.b", "s(b(c|d))"),
        ("WHEN MATCHED THEN UPDATE SET s.b.d = q.s.b.d, s.e = q.s.e", "s(b(d)|e)"),
        ("WHEN MATCHED THEN UPDATE SET v = q.v + 1, s.a = -q.s.a", ""),
        ("WHEN MATCHED THEN UPDATE SET v = q.s.a, s.a = q.v", ""),
        ("WHEN MATCHED THEN UPDATE SET v = t.v", ""),
        ("WHEN MATCHED THEN UPDATE SET v = DEFAULT", ""),
        ("WHEN MATCHED THEN UPDATE SET w = upper(q.w), s.e = q.s.e + 1", "s(e) w"),
        ("WHEN MATCHED THEN UPDATE SET s.nowhere = 1, nothing = 2", ""),
        ("WHEN NOT MATCHED THEN INSERT (id, w, v) VALUES (q.id, q.w, 1)", "ID w"),
        ("WHEN NOT MATCHED THEN INSERT (id, s) VALUES (ID, s)", "ID s(a|b(c|d)|e)"),
        ("WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 1", ""),
    ],
)
def test_columns(clauses, found):
    assert taken(clauses) == found


def test_names_of_the_source():
    clause = "WHEN MATCHED THEN UPDATE SET v = {}.v"
    assert taken(clause.format("db.changes"), using="db.changes") == "v"
    assert taken(clause.format("changes"), using="db.changes") == "v"
    assert taken(clause.format("other"), using="db.changes") == ""
    # A source that is called like one of its columns.
    assert taken("WHEN MATCHED THEN UPDATE SET s.a = s.a, s.b = s.s.b", using="db.changes AS s") == "s(a|b(c|d))"


def test_columns_that_are_named():
    clauses = "WHEN MATCHED THEN UPDATE SET s.b.c = 7 WHEN NOT MATCHED THEN INSERT (Id, v) VALUES (1, 1)"
    names = ["id", "v", "s", "other"]
    on = "MERGE INTO db.t AS t USING changes AS q ON t.id = q.id"
    assert assigned_columns(parse(f"{on} {clauses}"), names) == ["id", "v", "s"]
    assert (
        assigned_columns(parse(f"{on} WHEN MATCHED THEN UPDATE SET * {clauses[clauses.index('WHEN NOT') :]}"), names)
        == names
    )
