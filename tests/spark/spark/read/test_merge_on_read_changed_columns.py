"""Columns and fields that other tools renamed, dropped, added and retyped, as the engine and Spark read older files."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from support.evolve import change
from support.tables import compact, make_table, read, write

from tablestore_engine.catalog import Catalog
from tablestore_engine.errors import CastError, UnsupportedTypeError
from tablestore_engine.schema.types.types import ArrayType, DataField, MapType, RowType, parse_type
from tablestore_engine.spark.errors.translate_errors import translated
from tablestore_engine.spark.read.merge_on_read import read_table

pytestmark = pytest.mark.spark
INT, TEXT, LONG = (parse_type(one) for one in ("INT", "STRING", "BIGINT"))


def fields(*triples):
    return RowType(tuple(DataField(*one) for one in triples))


PAST = fields((20, "x", INT), (21, "y-y", TEXT), (22, "in", fields((23, "q", INT))))
NOW = fields((22, "in", fields((30, "new", TEXT), (23, "q", LONG))), (21, "x", TEXT), (31, "z", ArrayType(INT)))
BEFORE = {
    "s": (11, PAST),
    "l": (12, ArrayType(PAST)),
    "m": (13, MapType(TEXT, PAST)),
    "ll": (14, ArrayType(ArrayType(PAST))),
    "n": (15, INT),
}
AFTER = (
    DataField(14, "ll", ArrayType(ArrayType(NOW))),
    DataField(13, "the m", MapType(TEXT, NOW)),
    DataField(12, "l", ArrayType(NOW)),
    DataField(11, "s", NOW),
    DataField(15, "n", parse_type("DECIMAL(12, 1)")),
    DataField(40, "m", TEXT),
)


@pytest.fixture
def changed(tmp_path):
    """A table with two runs, after another tool changed all of its columns."""
    table = make_table(tmp_path, {"id": "INT", "n": "INT"}, ["id"], options={"bucket": "1", "write-only": "true"})
    first = replace(
        table.schema,
        fields=(table.schema.field("id"), *(DataField(i, n, t) for n, (i, t) in BEFORE.items())),
        highest_field_id=50,
    )
    table.io.write(table.paths.schema(0), first.to_json().encode())
    table = Catalog(tmp_path).load_table(*table.identifier)
    inner = {"x": 1, "y-y": "why", "in": {"q": 7}}
    for step in range(2):
        rows = [
            {"id": i, "s": inner, "l": [inner, None], "m": [("k", inner)], "ll": [[inner], None, []], "n": i}
            for i in range(step, step + 3)
        ]
        write(table, [*rows, {"id": 10 + step}])
    after = replace(first, id=1, fields=(*AFTER, first.field("id")))
    table.io.create(table.paths.schema(1), after.to_json().encode())
    return Catalog(tmp_path).load_table(*table.identifier)


def plain(value):
    """Rows of Spark or Arrow as JSON would hold them."""
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def test_everything_is_found_by_its_id(spark, changed):
    inner = {"in": {"new": None, "q": 7}, "x": "why", "z": None}
    full = {"ll": [[inner], None, []], "the m": [["k", inner]], "l": [inner, None], "s": inner, "m": None}
    nothing = dict.fromkeys(full)
    expected = [{**full, "n": f"{i}.0", "id": i} for i in range(4)]
    expected += [{**nothing, "n": None, "id": i} for i in (10, 11)]

    def check():
        found = sorted(plain(read(changed)), key=lambda row: row["id"])
        assert found == expected
        frame = read_table(spark, changed)
        assert frame.columns == list(changed.schema.field_names)
        assert sorted(plain(frame.toArrow().to_pylist()), key=lambda row: row["id"]) == expected

    check()
    assert read_table(spark, changed).where("s.x = 'why' and s.`in`.q = 7").count() == 4
    assert compact(changed) is not None
    check()
    write(
        changed, [{"id": 0, "s": {"in": {"new": "n", "q": 2**40}, "x": "y", "z": [1]}, "n": Decimal("1.5"), "m": "m"}]
    )
    expected[0] = {**nothing, "id": 0, "n": "1.5", "m": "m", "s": {"in": {"new": "n", "q": 2**40}, "x": "y", "z": [1]}}
    check()


def retyped(table, kind, **options):
    """The table with the column `n` and the fields `x` of its structs in other types."""
    fields = [replace(f, type=parse_type(kind)) if f.name == "n" else f for f in table.schema.fields]
    return change(table, fields, options={**table.schema.options, **options})


def test_a_value_that_cannot_be_cast(spark, changed):
    """It is named where it is an error; the rest of the table is read, and nothing is rewritten."""
    write(changed, [{"id": 20, "n": Decimal(200)}])
    table = retyped(changed, "TINYINT")
    before = table.latest_snapshot()
    message = r"column 'n' is TINYINT, and the value is '200\.0'\. Set 'schema\.evolution\.cast' = 'explicit-null'"
    for verb in (lambda: read(table), lambda: compact(table)):
        with pytest.raises(CastError, match=message):
            verb()
    with pytest.raises(CastError, match=message), translated():
        read_table(spark, table).collect()
    assert table.latest_snapshot() == before
    table = retyped(table, "TINYINT", **{"schema.evolution.cast": "explicit-null"})
    expected = [(i, i if i < 10 else None) for i in (0, 1, 2, 3, 10, 11, 20)]
    for _ in range(2):
        assert sorted((row["id"], row["n"]) for row in read(table)) == expected
        assert sorted(map(tuple, read_table(spark, table).select("id", "n").collect())) == expected
        compact(table)


def test_a_change_without_a_cast_is_refused_by_each_reader(spark, changed):
    table = retyped(changed, "DATE")
    before = table.latest_snapshot()
    for verb in (lambda: read(table), lambda: read_table(spark, table).count(), lambda: compact(table)):
        with pytest.raises(UnsupportedTypeError, match=r"'n' has files in which it is INT, .* not read as DATE"):
            verb()
    assert table.latest_snapshot() == before


def test_nested_values_as_texts(spark, changed):
    kinds = {"s": TEXT, "l": TEXT, "the m": TEXT}
    table = change(changed, [replace(f, type=kinds.get(f.name, f.type)) for f in changed.schema.fields])
    text = "{1, why, {7}}"
    expected = {(text, f"[{text}, null]", f"{{k -> {text}}}"), (None, None, None)}
    for _ in range(2):
        assert {(row["s"], row["l"], row["the m"]) for row in read(table)} == expected
        assert set(map(tuple, read_table(spark, table).select("s", "l", "the m").collect())) == expected
        compact(table)
