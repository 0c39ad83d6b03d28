"""Which columns of older files Spark reads by itself, and which it must never be asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.evolve import row_type
from support.tables import schema_of

from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type
from tablestore_engine.spark.expressions.column_source import (
    FilesRead,
    Source,
    combined_scans,
    finds_fields,
    reads_as,
    sources_of,
)

INT = parse_type("INT")
LTZ = "TIMESTAMP(6) WITH LOCAL TIME ZONE"


@pytest.mark.parametrize(
    ("past", "current"),
    [
        ("TINYINT", "BIGINT"),
        ("INT", "DOUBLE"),
        ("INT", "DECIMAL(12, 2)"),
        ("BIGINT", "DECIMAL(22, 2)"),
        ("DECIMAL(10, 2)", "DECIMAL(12, 4)"),
        ("FLOAT", "DOUBLE"),
        ("VARCHAR(3)", "STRING"),
        ("TIMESTAMP(3)", "TIMESTAMP(6)"),
    ],
)
def test_files_of_these_types_are_read_by_spark_directly(past, current):
    assert reads_as(parse_type(past), parse_type(current))
    assert not reads_as(parse_type(current), parse_type(past))


@pytest.mark.parametrize(
    ("past", "current"),
    [
        ("INT", "DATE"),  # these it reads, and wrongly
        ("BIGINT", "INT"),
        ("INT", "TINYINT"),
        ("DATE", "INT"),
        ("TIMESTAMP(6)", "BIGINT"),
        (LTZ, "BIGINT"),
        ("DECIMAL(10, 2)", "BYTES"),
        ("INT", "DECIMAL(11, 2)"),  # these it refuses
        ("BIGINT", "DECIMAL(19, 0)"),
        ("BIGINT", "DOUBLE"),
        ("INT", "STRING"),
        ("DECIMAL(10, 2)", "DECIMAL(11, 4)"),
        ("TIMESTAMP(6)", "DATE"),
    ],
)
def test_files_of_other_types_are_cast(past, current):
    assert not reads_as(parse_type(past), parse_type(current))


OWN = ((1, "x", "INT"), (2, "y", "STRING"))
STRUCTS = [
    (((2, "y", "STRING"), (5, "z", "INT"), (1, "x", "INT")), True),
    (((5, "z", "INT"),), True),  # no field is left
    (((1, "x", "INT"), (2, "z", "STRING")), False),  # renamed
    (((1, "x", "BIGINT"),), False),
    (((5, "X", "INT"), (2, "y", "STRING")), False),  # another field of an old name
]


@pytest.mark.parametrize(("fields", "found"), STRUCTS)
def test_fields_of_structs(fields, found):
    for around in (
        lambda one: one,
        ArrayType,
        lambda one: MapType(INT, one),
        lambda one: RowType((DataField(0, "s", one),)),
    ):
        assert finds_fields(around(row_type(*OWN)), around(row_type(*fields))) is found
    own, current = (
        replace(schema_of({"a": "INT"}), fields=(DataField(0, "s", row_type(*one)),)) for one in (OWN, fields)
    )
    for fills in (False, True):
        (source,) = sources_of(own, current, fills_structs=lambda fills=fills: fills)
        assert (source.sql is None) is (found and fills)


def test_sources():
    own = schema_of({"a": "INT", "b": "INT", "c": "STRING", "d": "INT"})
    a, b, _, d = own.fields
    fields = (
        replace(b, type=parse_type("BIGINT")),  # wider
        replace(a, name="z"),  # renamed
        DataField(9, "a", INT),  # another column of an old name
        DataField(10, "new", INT),
        replace(d, type=parse_type("STRING")),
    )
    current = replace(own, id=1, fields=fields)
    wide, renamed, again, new, text = sources_of(own, current)
    assert (wide, new) == (Source(fields[0], None), Source(fields[3], None))
    assert (renamed.stored.name, renamed.sql) == ("a", "`a`")
    assert (again.stored, again.sql) == (None, "cast(null as int)")
    assert (text.stored.name, text.stored.type, text.sql) == ("d", INT, "cast(`d` as string)")
    wide, _, _, new, _ = sources_of(own, current, widens=False)
    assert (wide.stored.type, wide.sql) == (INT, "cast(`b` as bigint)")
    assert (new.stored, new.sql) == (None, "cast(null as int)")


def test_schemas_that_are_read_alike():
    """Changes of columns that are left out, of positions, comments and nullability make no other scan."""
    first = schema_of({"a": "INT", "b": "INT", "c": "STRING"})
    a, b, _ = first.fields
    second = replace(first, id=1, fields=(b, replace(a, description="x"), DataField(9, "more", INT)))
    current = replace(first, id=2, fields=(replace(a, type=parse_type("STRING")), b))
    assert sources_of(first, current) == sources_of(second, current)


def test_files_of_many_schemas_are_read_by_one_scan_unless_a_name_has_two_meanings():
    first = schema_of({"a": "INT", "b": "INT", "c": "STRING"})
    a, b, c = first.fields
    renamed = replace(first, id=1, fields=(replace(a, name="a1"), b, c))
    current = replace(first, id=2, fields=(replace(a, name="a2", type=parse_type("STRING")), b, c))

    def files(schema):
        names = frozenset(schema.field_names)
        return FilesRead(schema.id, names, sources_of(schema, current))

    (scan,) = combined_scans([files(first), files(renamed), files(current)])
    assert [one.name for one in scan.stored()] == ["a", "b", "c", "a1", "a2"]
    assert [one.sql for one in scan.sources()] == [
        "coalesce(cast(`a` as string), cast(`a1` as string), `a2`)", None, None]  # fmt: skip
    others = [
        replace(first, id=3, fields=(DataField(9, "a2", INT), b, c)),  # a column that is dropped now has the new name
        replace(first, id=4, fields=(replace(a, name="a1", type=parse_type("BIGINT")), b, c)),  # the name, another type
        replace(first, id=5, fields=(replace(b, name="A"), c)),  # in another case
    ]
    for other in others:
        for several in ([first, renamed, current, other], [other, first, renamed, current]):
            found = [[one.schema_id for one in scan.members] for scan in combined_scans(map(files, several))]
            assert len(found) == 2, found
            assert not any({other.id, current.id if other.id == 3 else renamed.id if other.id == 4 else 0} <= set(one)
                           for one in found), found  # fmt: skip
