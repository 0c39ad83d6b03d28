"""Names of relations."""

from types import SimpleNamespace

import pytest
from dbt.adapters.contracts.relation import RelationType
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.relation.relation import TableStoreRelation as Relation


def test_it_renders_without_database_and_quoted():
    assert Relation.create(schema="my-dev", identifier="select").render() == "`my-dev`.`select`"
    assert Relation.create(schema="s", identifier="odd`name").render() == "`s`.`odd``name`"


def test_a_database_equal_to_the_schema_is_dropped():
    relation = Relation.create(database="s", schema="s", identifier="t")
    assert relation.database is None
    assert relation == Relation.create(schema="s", identifier="t")


def test_another_database_is_refused():
    with pytest.raises(DbtRuntimeError, match="only a schema"):
        Relation.create(database="db", schema="s", identifier="t")


def test_names_match_without_regard_to_case():
    relation = Relation.create(schema="Dev", identifier="Orders", type="table")
    assert relation.matches(schema="dev", identifier="ORDERS")
    assert relation.matches(database="anything", schema="dev", identifier="`orders`")
    assert not relation.matches(schema="dev", identifier="order")
    with pytest.raises(DbtRuntimeError):
        relation.matches()


def test_kinds():
    table = Relation.create(schema="s", identifier="t", type="table")
    assert (table.is_table, table.can_be_renamed, table.can_be_replaced) == (True,) * 3
    view = table.incorporate(type=RelationType.View)
    assert (view.is_view, view.is_table) == (True, False)


def test_a_name_without_schema_is_of_the_session():
    relation = Relation.create(schema="s", identifier="t")
    assert not relation.is_session_name
    assert relation.include(schema=False).is_session_name
    assert relation.incorporate(path={"schema": None}).is_session_name


def test_limits_and_event_times_render_without_alias():
    relation = Relation.create(schema="s", identifier="t", limit=0)
    assert str(relation) == "(select * from `s`.`t` where false limit 0)"


def test_packages_pass_on_a_database_that_is_undefined():
    from jinja2 import Undefined

    relation = Relation.create(database=Undefined(name="database"), schema="s", identifier="t")
    assert relation.render() == "`s`.`t`"
    assert relation.database is None


def test_an_empty_database_is_none():
    own, none = (Relation.create(database=one, schema="s", identifier="i") for one in ("", None))
    assert own == none
    assert own.database is None


def node_with_database(**more):
    kinds = {"catalog_name": None, "quoting_dict": {}, "unique_id": "source.shop.raw.orders", "schema": "raw"}
    return SimpleNamespace(**kinds, database="lake", identifier="orders", original_file_path="models/raw.yml", **more)


def project(ignore_database):
    return SimpleNamespace(quoting={}, credentials=SimpleNamespace(ignore_database=ignore_database))


def test_a_node_with_a_database_is_named():
    with pytest.raises(DbtRuntimeError, match=r"'lake' of source.shop.raw.orders \(models/raw.yml\) is unknown"):
        Relation.create_from(project(False), node_with_database())


def test_databases_of_nodes_may_be_ignored():
    node = node_with_database()
    relation = Relation.create_from(project(True), node)
    assert (relation.render(), relation.source_id) == ("`raw`.`orders`", "source.shop.raw.orders")
    assert node.database is None  # dbt looks the node up in the catalog of docs by it
