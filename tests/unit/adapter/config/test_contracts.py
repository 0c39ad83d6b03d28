"""Constraints of enforced contracts as expressions."""

from dbt.adapters.tablestore.config.contracts import select_list as items_of
from tablestore_engine.sql.types.types import parse_sql_type


def select_list(model, lengths=()):
    return items_of(model, {name: parse_sql_type(text) for name, text in dict(lengths).items()})


def model(columns, constraints=()):
    return {"columns": {name: {"name": name, "constraints": list(each)} for name, each in columns.items()},
            "constraints": list(constraints)}  # fmt: skip


def test_columns_without_constraints_are_taken_as_they_are():
    assert select_list(model({"id": (), "odd`name": ()})) == ["`id`", "`odd``name`"]


def test_not_null_fails_on_the_first_null():
    (item, other) = select_list(model({"id": [{"type": "not_null"}], "v": ()}))
    assert item.startswith("coalesce(`id`, raise_error(concat('A row violates the NOT NULL constraint of column id:'")
    assert "', v = ', coalesce(left(CAST(`v` AS STRING), 100), 'NULL')" in item
    assert item.endswith("))) as `id`"), other == "`v`"


def test_checks_fail_on_the_first_row_that_is_false():
    (item,) = select_list(model({"id": [{"type": "check", "expression": "id > 0", "name": "positive"}]}))
    assert item.startswith(
        "if(not (id > 0), raise_error(concat('A row violates the CHECK constraint positive (id > 0):', ' id = ',"
    )
    assert item.endswith(", '.')), `id`) as `id`")


def test_checks_without_a_name_have_those_of_the_table():
    checks = [{"type": "check", "expression": "a > 0"}, {"type": "check", "expression": "a > 1"}]
    item = select_list(model({"a": checks}))[0]
    assert "a_check (a > 0)" in item
    assert "a_check2 (a > 1)" in item


def test_checks_of_the_model_are_made_with_the_first_column():
    items = select_list(model({"a": (), "b": ()}, [{"type": "check", "expression": "a < b"}]))
    assert "if(not (a < b)" in items[0]
    assert items[1] == "`b`"


def test_declared_constraints_change_nothing():
    declared = [{"type": "unique"}, {"type": "foreign_key"}, {"type": "primary_key"}]
    assert select_list(model({"id": declared})) == ["`id`"]


def test_fields_of_structs_are_no_columns():
    assert select_list(model({"s": (), "s.x": (), "S.y.z": (), "odd.name": ()})) == ["`s`", "`odd.name`"]


def test_texts_are_as_long_as_their_type():
    item = select_list(model({"A": [{"type": "not_null"}]}), {"a": "varchar(3)"})[0]
    assert item.startswith(
        "coalesce(if(char_length(rtrim(`A`)) > 3, raise_error(concat('Column A has the type varchar(3) "
    )
    assert item.endswith("as `A`")
