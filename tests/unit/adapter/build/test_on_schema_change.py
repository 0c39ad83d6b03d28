"""Decisions about on_schema_change: what differs, and the statement that adapts the table."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.dbt_columns import TABLE, columns

from dbt.adapters.tablestore.build.on_schema_change import (
    SchemaChange,
    add_columns_sql,
    check_rewritable,
    needs_rewrite,
    rewrite_sql,
)
from tablestore_engine.schema.merge.merge_engine import Fold, MergeEngine


def test_equal_columns_are_no_change_in_any_order_and_case():
    assert not SchemaChange.between(columns(B="bigint", ID="int", a="string"), TABLE)


def test_changes_and_their_text():
    change = SchemaChange.between(columns(id="int", b="string", c="date"), TABLE)
    assert change
    assert change.text == "new columns c; missing columns a; changed types b (string, not bigint)"
    assert change.rewritten() == ["`id`", "cast(`b` as string) as `b`", "cast(null as date) as `c`"]


def test_new_columns_are_added_without_a_rewrite():
    change = SchemaChange.between([*TABLE, *columns(c="date", d="int")], TABLE)
    assert not needs_rewrite(change, "append_new_columns")
    assert not needs_rewrite(change, "sync_all_columns")
    assert add_columns_sql("s.t", change) == "alter table s.t add columns (`c` date, `d` int)"


@pytest.mark.parametrize("source", [columns(id="int", b="bigint"), columns(id="int", a="string", b="string")])
def test_columns_are_dropped_or_retyped_only_where_all_are_to_be_in_step(source):
    change = SchemaChange.between(source, TABLE)
    assert needs_rewrite(change, "sync_all_columns")
    assert not needs_rewrite(change, "append_new_columns")
    assert add_columns_sql("s.t", change) == ""


def test_a_rewrite_is_one_statement():
    change = SchemaChange.between(columns(id="int", b="string"), TABLE)
    sql = rewrite_sql("s.t", "primary key (`id`)", change)
    assert sql == "create or replace table s.t primary key (`id`) as select `id`, cast(`b` as string) as `b` from s.t"


def test_rows_that_count_are_not_written_again():
    check_rewritable("s.t", MergeEngine("aggregation", (Fold("n", "sum"),)))
    with pytest.raises(DbtRuntimeError, match="would count them in column 'n' as one each"):
        check_rewritable("s.t", MergeEngine("aggregation", (Fold("n", "count"),)))


def test_a_text_with_a_limit_fits_into_one_without():
    assert not SchemaChange.between(columns(id="int", a="varchar(3)", b="bigint"), TABLE)
    assert SchemaChange.between(TABLE, columns(id="int", a="char(3)", b="bigint"))


def test_fields_of_a_struct_that_only_change_places_keep_their_values():
    before = columns(s="struct<d:string,e:string>")
    change = SchemaChange.between(columns(s="struct<e:string,d:string>"), before)
    moved = "if(`s` IS NULL, NULL, struct(`s`.`e` AS `e`, `s`.`d` AS `d`))"
    assert change.rewritten() == [f"cast({moved} as struct<e:string,d:string>) as `s`"]
    renamed = SchemaChange.between(columns(s="struct<d:string,f:string>"), before)
    assert renamed.rewritten() == ["cast(`s` as struct<d:string,f:string>) as `s`"]
