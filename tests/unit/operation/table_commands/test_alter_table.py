"""Schema changes on a table with rows: what is checked first, what takes effect when, and which writes conflict."""

from __future__ import annotations

from datetime import datetime

import pyarrow as pa
import pytest
from support.invariants import check_invariants
from support.tables import compact, make_table, read, reload, write

from tablestore_engine.errors import ConflictError, SchemaError, UnsupportedTypeError
from tablestore_engine.operation.table_commands import arrow_write
from tablestore_engine.operation.table_commands.alter_table import evolving
from tablestore_engine.schema.table.schema_changes import (
    AddCheckConstraint,
    AddColumn,
    DropColumn,
    RenameColumn,
    RetypeColumn,
    SetComment,
    SetNullability,
    SetOption,
)
from tablestore_engine.schema.types.types import parse_type

INT = parse_type("INT")
COLUMNS = {"id": "INT", "v": "INT"}
STRICT = SetNullability("v", nullable=False)


def nullable(table):
    return reload(table).schema.field("v").type.nullable


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_column_becomes_not_null_when_no_row_has_a_null(tmp_path, keys):
    table = make_table(tmp_path, COLUMNS, keys)
    write(table, [{"id": 1, "v": 1}, {"id": 2, "v": None}])
    with pytest.raises(SchemaError, match="'v' cannot become NOT NULL: it is null in 1 row"):
        table.alter(STRICT, AddColumn("n", INT))
    assert reload(table).schema == table.schema
    if not keys:
        return
    write(table, [{"id": 2, "v": 2}])
    strict = table.alter(STRICT)
    assert not nullable(table)
    assert strict.latest_snapshot().commit_kind == "ANALYZE"
    assert {row["id"]: row["v"] for row in read(strict)} == {1: 1, 2: 2}
    with pytest.raises(SchemaError, match="v"):
        strict.write(pa.table({"id": pa.array([3], pa.int32()), "v": pa.array([None], pa.int32())}))
    check_invariants(strict)


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_cast_makes_no_null_in_a_column_that_is_not_null(tmp_path, keys):
    nulls = SetOption("schema.evolution.cast", "explicit-null")
    errors = SetOption("schema.evolution.cast", "explicit-error")
    columns = {"id": "INT", "v": "STRING NOT NULL"}
    table = make_table(tmp_path, columns, keys, options={nulls.key: nulls.value})
    write(table, [{"id": 1, "v": "1"}, {"id": 2, "v": "a"}])
    refused = r"'v' is NOT NULL, and the cast to its type .* could make it null in 1 row\."
    with pytest.raises(SchemaError, match=refused):
        table.alter(RetypeColumn("v", INT))
    assert reload(table).schema == table.schema
    cast = table.alter(errors).alter(RetypeColumn("v", INT))
    with pytest.raises(SchemaError, match=refused):
        cast.alter(nulls)
    loose = cast.alter(SetNullability("v", nullable=True), nulls)
    assert sorted(read(loose), key=lambda row: row["id"]) == [{"id": 1, "v": 1}, {"id": 2, "v": None}]
    with pytest.raises(SchemaError, match="'v' cannot become NOT NULL: it is null in 1 row"):
        loose.alter(STRICT)
    twice = make_table(tmp_path / "twice", columns, keys, options={nulls.key: nulls.value})
    write(twice, [{"id": 1, "v": "true"}])
    twice = twice.alter(RetypeColumn("v", parse_type("BOOLEAN")))
    with pytest.raises(SchemaError, match=refused):  # a file is cast once, from STRING
        twice.alter(RetypeColumn("v", INT))
    with pytest.raises(SchemaError, match="A write cannot give column 'v' another type: it is NOT NULL"):
        evolving(twice.state, [RetypeColumn("v", INT)], 0)
    good = make_table(tmp_path / "other", columns, keys, options={nulls.key: nulls.value})
    write(good, [{"id": 1, "v": "1"}])
    assert read(good.alter(RetypeColumn("v", INT))) == [{"id": 1, "v": 1}]


def test_a_rollback_keeps_not_null_where_no_type_changed(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "STRING NOT NULL", "w": "STRING NOT NULL"})
    table = table.alter(SetOption("schema.evolution.cast", "explicit-error"))
    write(table, [{"id": 1, "v": "a", "w": "1"}])
    table = table.alter(AddColumn("x", INT))
    table = table.alter(RetypeColumn("w", INT))
    table = table.alter(SetOption("schema.evolution.cast", "explicit-null"))
    write(table, [{"id": 2, "v": "b", "w": 2}])
    table.roll_back(1)
    after = reload(table).schema
    assert [after.field(name).type.nullable for name in ("v", "w")] == [False, True]


def test_a_cast_in_records_that_are_folded_needs_a_column_that_may_be_null(tmp_path):
    options = {"merge-engine": "partial-update", "schema.evolution.cast": "explicit-null"}
    table = make_table(tmp_path, {"id": "INT", "v": "STRING NOT NULL"}, ["id"], options=options)
    write(table, [{"id": 1, "v": "1"}])
    with pytest.raises(SchemaError, match=r"'v' is NOT NULL, and .* could make it null in records"):
        table.alter(RetypeColumn("v", INT))
    loose = table.alter(SetNullability("v", nullable=True), RetypeColumn("v", INT))
    assert read(loose) == [{"id": 1, "v": 1}]


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_full_compaction_stores_what_casts_make(tmp_path, keys):
    table = make_table(
        tmp_path, {"id": "INT", "v": "TIMESTAMP"}, keys, options={"schema.evolution.cast": "explicit-null"}
    )
    write(table, [{"id": 1, "v": datetime(2024, 1, 1)}])
    compact(table)
    table = table.alter(RetypeColumn("v", parse_type("STRING")))
    with pytest.raises(UnsupportedTypeError, match="TIMESTAMP") as refused:
        table.alter(RetypeColumn("v", parse_type("DOUBLE")))
    assert "Add a column" in refused.value.hint
    assert compact(table) is not None
    assert compact(table) is None
    assert {entry.file.schema_id for entry in table.live_files()} == {table.schema.id}
    assert read(table) == [{"id": 1, "v": "2024-01-01 00:00:00"}]


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_full_compaction_leaves_what_is_the_same_value_in_the_new_type(tmp_path, keys):
    table = make_table(tmp_path, COLUMNS, keys)
    write(table, [{"id": 1, "v": 1}])
    compact(table)
    table = table.alter(RetypeColumn("v", parse_type("BIGINT")), AddColumn("w", INT))
    assert compact(table) is None


@pytest.mark.parametrize("keys", [[], ["id"]])
@pytest.mark.parametrize("path", ["c", "v", "s.y"])
def test_an_added_column_is_null_in_the_rows_of_before(tmp_path, keys, path):
    changes = [AddColumn(path, INT), SetNullability(path, nullable=False)]
    table = make_table(tmp_path, COLUMNS, keys).alter(AddColumn("s", _row(x="INT")))
    if path == "v":  # another column of this name
        changes = [DropColumn(path), *changes]
    write(table, [{"id": 1, "v": 1, "s": {"x": 1}}])
    with pytest.raises(SchemaError, match=f"'{path}' cannot become NOT NULL: it is null in 1 row"):
        table.alter(*changes)
    assert reload(table).schema == table.schema
    empty = make_table(tmp_path / "other", COLUMNS, keys).alter(AddColumn("s", _row(x="INT")))
    assert empty.alter(*changes).schema.highest_field_id == empty.schema.highest_field_id + 1


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_counts_of_nulls_are_enough(tmp_path, monkeypatch, keys):
    table = make_table(tmp_path, {**COLUMNS, "w": "INT"}, keys)
    write(table, [{"id": 1, "v": 1, "w": None}])
    table = table.alter(DropColumn("w"), RenameColumn("v", "w"), AddColumn("v", INT))
    write(table, [{"id": 2, "w": 2, "v": 2}])

    def no_plan(*_):
        raise AssertionError("files were sought")

    with monkeypatch.context() as patched:
        patched.setattr("tablestore_engine.operation.table_commands.not_null_check.plan_scan", no_plan)
        table = table.alter(SetNullability("w", nullable=False))
        with pytest.raises(AssertionError):
            table.alter(STRICT)
    with pytest.raises(SchemaError, match="'v' cannot become NOT NULL: it is null in 1 row"):
        table.alter(STRICT)


def test_an_earlier_write_conflicts_and_a_committed_one_is_checked(tmp_path):
    early = make_table(tmp_path, COLUMNS)
    write(early, [{"id": 1, "v": 1}])
    late = reload(early)
    strict = early.alter(STRICT)
    with pytest.raises(ConflictError, match="another layout, or constraints"):
        write(late, [{"id": 2, "v": None}])
    write(strict, [{"id": 2, "v": 2}])
    loose = strict.alter(SetNullability("v", nullable=True))
    write(strict, [{"id": 3, "v": 3}])
    assert [row["v"] for row in read(loose)] == [1, 2, 3]


def test_a_rollback_lets_nulls_come_back(tmp_path):
    table = make_table(tmp_path, COLUMNS, ["id"])
    write(table, [{"id": 1, "v": None}])
    write(table, [{"id": 1, "v": 1}])
    strict = table.alter(STRICT, RenameColumn("v", "w"))
    strict.roll_back(1)
    assert read(reload(table)) == [{"id": 1, "w": None}]
    assert reload(table).schema.field("w").type.nullable


def test_rows_that_come_during_the_check_are_checked_too(tmp_path, monkeypatch):
    from tablestore_engine.operation.table_commands import alter_table

    table = make_table(tmp_path, COLUMNS)
    write(table, [{"id": 1, "v": 1}])
    checked = alter_table.check_no_nulls

    def overtaken(*args):
        checked(*args)
        monkeypatch.setattr(alter_table, "check_no_nulls", checked)
        write(reload(table), [{"id": 2, "v": None}])

    monkeypatch.setattr(alter_table, "check_no_nulls", overtaken)
    with pytest.raises(SchemaError, match="it is null in 1 row"):
        table.alter(STRICT)
    assert nullable(table)
    assert len(read(reload(table))) == 2


@pytest.mark.parametrize("change", [STRICT, AddCheckConstraint("positive", "v > 0", 0, 0)])
def test_a_first_write_that_began_before_conflicts(tmp_path, change):
    before = make_table(tmp_path, COLUMNS)
    table = before.alter(change)
    assert reload(table).schema == table.schema
    assert (table.schema.id, table.latest_snapshot().commit_kind) == (1, "ANALYZE")
    with pytest.raises(ConflictError, match="another layout, or constraints"):
        write(before, [{"id": 1, "v": None}])
    write(table, [{"id": 1, "v": 1}])
    assert read(reload(table)) == [{"id": 1, "v": 1}]


@pytest.mark.parametrize("change", [STRICT, AddCheckConstraint("positive", "v > 0", 2, 0)])
def test_rows_that_no_read_sees_yet_cannot_be_checked(tmp_path, monkeypatch, change):
    table = make_table(tmp_path, COLUMNS, ["id"], options={"deletion-vectors.enabled": "true", "bucket": "1"})
    write(table, [{"id": 1, "v": 1}])
    monkeypatch.setattr(arrow_write, "follow", lambda done: done.snapshot)  # killed right after the commit
    table.write(pa.table({"id": pa.array([1], pa.int32()), "v": pa.array([None], pa.int32())}))
    assert read(table) == [{"id": 1, "v": 1}]
    with pytest.raises(SchemaError, match="rows in 1 file that cannot be checked"):
        table.alter(change)
    assert reload(table).schema == table.schema


def test_folded_records_are_checked_one_by_one(tmp_path):
    table = make_table(tmp_path, {"id": "INT", "v": "INT", "w": "INT"}, ["id"],
                       options={"merge-engine": "partial-update"})  # fmt: skip
    write(table, [{"id": 1, "v": 1, "w": None}])
    write(table, [{"id": 1, "v": None, "w": 1}])
    with pytest.raises(SchemaError, match="COMPACT"):
        try:
            table.alter(STRICT)
        except SchemaError as error:
            raise SchemaError(error.hint) from None
    compact(table, full=True)
    assert not table.alter(STRICT).schema.field("v").type.nullable


def test_nulls_inside_of_columns(tmp_path):
    table = make_table(
        tmp_path,
        {"id": "INT"},
    ).alter(AddColumn("s", _row(x="INT")), AddColumn("l", _list(_row(x="INT"))), AddColumn("m", _map(INT)))
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int32()),
            "s": pa.array([None, {"x": 1}], pa.struct([("x", pa.int32())])),
            "l": pa.array([[{"x": 1}, {"x": None}], None], pa.list_(pa.struct([("x", pa.int32())]))),
            "m": pa.array([[("k", None)], None], pa.map_(pa.string(), pa.int32())),
        }
    )
    table.write(rows)
    assert not table.alter(SetNullability("s.x", nullable=False)).schema.field("s").type.fields[0].type.nullable
    table = reload(table).alter(SetNullability("l.element", nullable=False))
    for path in ("s", "l.element.x", "m.value"):
        with pytest.raises(SchemaError, match=f"'{path}' cannot become NOT NULL"):
            table.alter(SetNullability(path, nullable=False))


def _row(**fields):
    from tablestore_engine.schema.types.types import DataField, RowType

    return RowType(tuple(DataField(-1, name, parse_type(kind)) for name, kind in fields.items()))


def _list(element):
    from tablestore_engine.schema.types.types import ArrayType

    return ArrayType(element)


def _map(value):
    from tablestore_engine.schema.types.types import MapType

    return MapType(parse_type("STRING NOT NULL"), value)


@pytest.mark.parametrize("keys", [[], ["id"]])
def test_a_write_that_began_before_is_right_by_ids(tmp_path, keys):
    """Its files say which schema they were written with."""
    before = make_table(tmp_path, {"id": "INT", "v": "INT", "w": "INT"}, keys)
    write(before, [{"id": 1, "v": 1, "w": 1}])
    after = before.alter(DropColumn("v"), RenameColumn("w", "v"), RetypeColumn("v", parse_type("BIGINT")))
    write(before, [{"id": 2, "v": 20, "w": 2}])
    write(after, [{"id": 3, "v": 3}])
    write(before, [{"id": 4, "v": 40, "w": 4}])
    assert after.latest_snapshot().schema_id == after.schema.id
    assert {row["id"]: row["v"] for row in read(reload(before))} == {n: n for n in (1, 2, 3, 4)}
    check_invariants(reload(before))


def test_nothing_to_change_writes_nothing(tmp_path):
    table = make_table(tmp_path, COLUMNS).alter(SetComment("c"))
    assert table.alter(DropColumn("nope", if_exists=True), SetComment("c")).schema.id == table.schema.id == 1
    assert reload(table).schemas.list_ids() == [0, 1]


def test_a_constraint_holds_from_the_rows_on_that_were_checked(tmp_path):
    table = make_table(tmp_path, COLUMNS)
    write(table, [{"id": 1, "v": 1}])
    old = reload(table)
    write(table, [{"id": 2, "v": -1}])
    with pytest.raises(ConflictError, match="while its rows were checked"):
        table.alter(AddCheckConstraint("positive", "v > 0", 1, 0))
    table = table.alter(RenameColumn("v", "u"), RenameColumn("id", "v"))
    with pytest.raises(ConflictError, match="while its rows were checked"):
        table.alter(AddCheckConstraint("positive", "v > 0", 2, 0))
    checked = table.alter(AddCheckConstraint("small", "v < 9", 2, 1))
    assert checked.schema.options["constraint.check.small"] == "v < 9"
    with pytest.raises(ConflictError):
        write(old, [{"id": 10, "v": 3}])
    with pytest.raises(SchemaError, match=r"constraint small \(v < 9\), which only Spark"):
        reload(table).write(reload(table).to_arrow())
