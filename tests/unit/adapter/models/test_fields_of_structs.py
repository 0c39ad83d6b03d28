"""Queries whose structs have other fields than those of their table."""

from dbt.adapters.tablestore.models.fields_of_structs import may_differ, with_fields_of
from dbt.adapters.tablestore.relation.column import TableStoreColumn


def fitted(given, wanted):
    query = with_fields_of("q", [TableStoreColumn("s", given)], [TableStoreColumn("S", wanted)])
    return "as it is" if query == "q" else query.splitlines()[1].strip()


def test_fields_are_left_out_and_null():
    assert fitted("struct<x:int,z:int>", "struct<X:int,y:string>") == (
        "if(`s` is null, null, named_struct('X', `s`.`x`, 'y', cast(null as string))) as `s`"
    )
    assert fitted("array<struct<x:int>>", "array<struct<y:int>>") == (
        "transform(`s`, dbt_field_0 -> if(dbt_field_0 is null, null, named_struct('y', cast(null as int)))) as `s`"
    )
    assert "transform_values(`s`, (dbt_key_0, dbt_field_0) -> transform(dbt_field_0, dbt_field_1 -> if(" in fitted(
        "map<string,array<struct<x:int>>>", "map<string,array<struct<x:int,y:int>>>"
    )


def test_other_columns_stay():
    for given, wanted in (
        ("struct<x:int>", "struct<x:int>"),
        ("struct<y:int,x:int>", "struct<x:bigint,y:int>"),
        ("int", "struct<x:int>"),
        ("struct<x:void>", "struct<x:int>"),
    ):
        assert fitted(given, wanted) == "as it is", "the write casts them, or says what is wrong"


def test_modes():
    columns = [TableStoreColumn("a", "array<struct<x:int>>")]
    assert may_differ("ignore", columns)
    assert may_differ("append_new_columns", columns)
    assert not may_differ("sync_all_columns", columns)
    assert not may_differ("ignore", [TableStoreColumn("a", "array<int>")])
