"""Decisions about on_schema_change: what differs, and the changes of the schema that adapt the table."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.dbt_columns import TABLE, columns

from dbt.adapters.tablestore.models.on_schema_change import OtherPaths, Rename, SchemaChange, refuse_unrenamed, renames
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from tablestore_engine.schema.table.schema_changes import AddColumn, DropColumn, RenameColumn, RetypeColumn
from tablestore_engine.sql.types.types import parse_sql_type

APPEND, SYNC = "append_new_columns", "sync_all_columns"


def test_equal_columns_are_no_change_in_any_order_and_case():
    assert not SchemaChange.between(columns(B="bigint", ID="int", a="string"), TABLE)


def test_changes_and_their_text():
    change = SchemaChange.between(columns(id="int", b="string", c="date"), TABLE)
    assert change
    assert change.text == "new columns c; missing columns a; changed types b (string, not bigint)"


def test_append_adds_and_sync_drops_and_retypes_too():
    change = SchemaChange.between(columns(id="int", b="string", c="date"), TABLE)
    added, string = AddColumn("c", parse_sql_type("date")), parse_sql_type("string")
    assert change.changes(APPEND) == [added]
    assert change.changes(SYNC) == [added, RetypeColumn("b", string), DropColumn("a")]
    assert change.changes("ignore") == change.changes("fail") == []
    assert change.done(APPEND) == "added c"
    assert change.done(SYNC) == "added c, b is string, dropped a"


@pytest.mark.parametrize(
    ("now", "given", "appended"),
    [
        ("struct<d:string>", "struct<e:int,d:string>", "struct<d:string,e:int>"),
        ("struct<d:string,e:int>", "struct<d:bigint>", None),
        (
            "array<struct<d:string>>",
            "array<struct<d:string,e:struct<f:int>>>",
            "array<struct<d:string,e:struct<f:int>>>",
        ),
        ("map<string,struct<d:string>>", "map<string,struct<d:string,e:int>>", "map<string,struct<d:string,e:int>>"),
        ("struct<d:struct<e:int>>", "struct<d:struct<e:string,f:int>>", "struct<d:struct<e:int,f:int>>"),
        ("int", "bigint", None),
    ],
)
def test_fields_are_added_at_any_depth(now, given, appended):
    change = SchemaChange.between(columns(s=given), columns(s=now))
    assert change.changes(APPEND) == ([RetypeColumn("s", parse_sql_type(appended))] if appended else [])
    assert change.changes(SYNC) == [RetypeColumn("s", parse_sql_type(given))]


@pytest.mark.parametrize(
    ("now", "given", "widened"),
    [
        ("int", "bigint", "bigint"),
        ("bigint", "int", None),
        ("timestamp", "date", None),
        ("string", "int", None),
        ("int", "string", None),
        ("struct<d:int,e:string>", "struct<d:bigint,f:int>", "struct<d:bigint,e:string,f:int>"),
    ],
)
def test_snapshots_take_over_larger_types(now, given, widened):
    change = SchemaChange.between(columns(s=given), columns(s=now))
    assert change.changes("widen") == ([RetypeColumn("s", parse_sql_type(widened))] if widened else [])


def test_a_text_with_a_limit_fits_into_one_without():
    assert not SchemaChange.between(columns(id="int", a="varchar(3)", b="bigint"), TABLE)
    assert SchemaChange.between(TABLE, columns(id="int", a="char(3)", b="bigint"))


def test_texts_that_a_contract_declares_are_the_tables():
    """append_new_columns makes them longer, and leaves other types of the column as they are."""

    def change(wanted, now):
        return SchemaChange.between([TableStoreColumn("s", wanted, declared=True)], columns(s=now)).changes(APPEND)

    longer = RetypeColumn("s", parse_sql_type("struct<a:varchar(5),b:string,c:int>"))
    assert change("struct<a:varchar(5),b:string,c:bigint>", "struct<a:varchar(3),b:char(1),c:int>") == [longer]
    assert change("varchar(3)", "varchar(5)") == change("varchar(3)", "string") == []
    assert SchemaChange.between([TableStoreColumn("s", "char(3)", declared=True)], columns(s="string"))
    assert not SchemaChange.between(columns(s="array<char(3)>"), columns(s="array<string>"))


def model(*listed):
    return {"columns": {one["name"]: one for one in listed}}


@pytest.mark.parametrize(
    ("column", "target", "expected"),
    [
        ({"name": "c", "config": {"meta": {"renamed_from": "A"}}}, TABLE, [Rename(("a",), "c")]),
        ({"name": "c", "meta": {"renamed_from": ["older", "a"]}}, TABLE, [Rename(("a",), "c")]),
        ({"name": "c", "config": {"renamed_from": "a"}}, columns(a="int", c="int"), []),
        ({"name": "c", "config": {"renamed_from": "gone"}}, TABLE, []),
        ({"name": "s.y", "config": {"renamed_from": "s.x"}}, columns(s="struct<x:int>"), [Rename(("s", "x"), "y")]),
        ({"name": "s.y", "config": {"renamed_from": "x"}}, columns(s="struct<y:int>"), []),
        ({"name": "l.element.y", "config": {"renamed_from": "x"}}, columns(l="array<struct<x:int>>"),
         [Rename(("l", "element", "x"), "y")]),
        ({"name": "l.Y", "config": {"renamed_from": "X"}}, columns(l="array<struct<x:int>>"),
         [Rename(("l", "element", "x"), "Y")]),
        ({"name": "l.y", "config": {"renamed_from": "l.x"}}, columns(l="array<array<struct<x:int>>>"),
         [Rename(("l", "element", "element", "x"), "y")]),
        ({"name": "m.s.y", "config": {"renamed_from": "x"}}, columns(m="map<int,struct<s:array<struct<x:int>>>>"),
         [Rename(("m", "value", "s", "element", "x"), "y")]),
        ({"name": "l.y", "config": {"renamed_from": "x"}}, columns(l="array<struct<x:int,y:int>>"), []),
    ],
)  # fmt: skip
def test_renames_are_found(column, target, expected):
    assert list(renames(model(column), target)) == expected


def test_a_renamed_column_is_neither_new_nor_missing():
    change = SchemaChange.between(columns(id="int", c="string", b="bigint"), TABLE, [Rename(("a",), "c")])
    assert not change
    assert change.changes("ignore") == [RenameColumn(("a",), "c")]
    assert change.done("ignore") == "renamed a to c"
    assert [one.name for one in change.target_columns] == ["id", "c", "b"]


def test_a_renamed_field_changes_the_type_of_its_column():
    given, now = columns(s="array<struct<y:int>>"), columns(s="array<struct<x:int>>")
    assert SchemaChange.between(given, now)
    assert not SchemaChange.between(given, now, [Rename(("s", "element", "x"), "y")])
    assert SchemaChange.between(None, now, [Rename(("s", "element", "x"), "y")]).target_columns == tuple(given)


def test_claims_that_are_refused():
    claims = [{"name": name, "config": {"renamed_from": "A"}} for name in ("c", "d")]
    both = {"columns": {one["name"]: one for one in claims}}
    with pytest.raises(DbtRuntimeError, match=r"The columns c and d .* that they were a before"):
        renames(both, TABLE)
    assert renames(both, columns(b="int")) == ()
    with pytest.raises(DbtRuntimeError, match=r"the column c is the template {{ a\.b }}, which dbt renders"):
        renames({"columns": {"c": {"name": "c", "config": {"renamed_from": "{{ a.b }}"}}}}, TABLE)
    assert renames(both, columns(a="int", d="int")) == (Rename(("a",), "c"),)


def test_a_query_that_still_gives_the_earlier_name():
    """A rename of the table's column only would make the query's a new one, and lose or hide the old values."""
    top = model({"name": "c", "config": {"renamed_from": ["older", "a"]}})
    with pytest.raises(DbtRuntimeError, match=r"that the column c was a before .* its query still gives a, and no c"):
        refuse_unrenamed(top, columns(id="int", A="int"), TABLE)
    with pytest.raises(DbtRuntimeError, match="still gives a, and no c"):
        refuse_unrenamed(top, columns(id="int", A="int"), columns(id="int", c="int"))
    refuse_unrenamed(top, columns(id="int", a="int", c="int"), TABLE)
    refuse_unrenamed(top, columns(id="int", c="void"), TABLE)
    refuse_unrenamed(top, columns(id="int", a="int"), columns(id="int"))
    inner = model({"name": "l.y", "config": {"renamed_from": "x"}})
    with pytest.raises(DbtRuntimeError, match=r"l\.y was l\.x before"):
        refuse_unrenamed(inner, columns(l="array<struct<x:int>>"), columns(l="array<struct<x:int>>"))
    refuse_unrenamed(inner, columns(l="array<struct<y:int>>"), columns(l="array<struct<x:int>>"))


def test_columns_and_fields_that_only_one_side_has():
    query = columns(ID="int", n="void", s="struct<A:int,n:struct<x:int>>", l="array<struct<y:int>>")
    table = columns(id="int", a="string", s="struct<a:int,b:int>", l="array<struct<x:int>>")
    paths = OtherPaths.of(SchemaChange.between(query, table))
    assert paths.new == (("l", "element", "y"), ("n",), ("s", "n"))
    assert paths.missing == (("a",), ("l", "element", "x"), ("s", "b"))
    assert paths.of_renamed(("s", "B"), ("s", "n"))
    assert not paths.of_renamed(("s", "n"), ("s", "b"))
    assert not paths.of_renamed(("a",), ("id",))
