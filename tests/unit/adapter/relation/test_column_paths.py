from __future__ import annotations

from dbt.adapters.tablestore.relation.column_paths import column_paths
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.sql.types.types import parse_sql_type


def test_fields_have_a_full_name_and_a_short_one():
    kind = parse_sql_type("struct<B: array<struct<c: int comment 'of c'>>, m: map<string, struct<d: int>>>")
    found = column_paths([DataField(0, "a", kind, "of a"), DataField(9, "n", parse_sql_type("int"))])
    assert [(one.path, one.names, one.comment) for one in found] == [
        (("a",), ("a",), "of a"),
        (("a", "B"), ("a.b",), None),
        (("a", "B", "element", "c"), ("a.b.element.c", "a.b.c"), "of c"),
        (("a", "m"), ("a.m",), None),
        (("a", "m", "value", "d"), ("a.m.value.d", "a.m.d"), None),
        (("n",), ("n",), None),
    ]
