"""What models may read changes."""

from types import SimpleNamespace

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.change_methods import ChangeMethods, _refuse_unnamed
from dbt.adapters.tablestore.config.changes_calls import refuse_windows
from dbt.adapters.tablestore.relation.relation import TableStoreRelation


def test_a_microbatch_reads_no_changes():
    """It would replace the rows of its window by those that changed."""
    model = {"unique_id": "model.shop.totals", "config": {"incremental_strategy": "microbatch"}}
    with pytest.raises(DbtRuntimeError, match=r"`changes\(orders\)` in model.shop.totals: .*microbatch.* Use"):
        refuse_windows("changes(orders)", model)
    refuse_windows("changes(orders)", {**model, "config": {"incremental_strategy": "changelog"}})
    refuse_windows("changes(orders)", {"unique_id": "model.shop.totals"})


class Source(SimpleNamespace):
    """A source of the manifest."""

    def to_dict(self, omit_none):
        columns = {"id": {"name": "id", "data_type": "int"}}
        meta = {"kafka": {"servers": "localhost:9092", "topic": self.topic}}
        return {"source_name": "shop", "name": "orders", "meta": meta, "columns": columns}


def test_sources_of_one_schema_and_identifier_have_their_own_topics():
    nodes = [
        Source(unique_id=f"source.{one}.shop.orders", schema="s", identifier="orders", topic=one) for one in ("a", "b")
    ]
    adapter = SimpleNamespace(_sources_of=lambda model: nodes)
    for node in nodes:
        config = SimpleNamespace(
            **vars(node), database="", quoting_dict={}, catalog_name=None, resource_type="source", tables=None
        )
        relation = TableStoreRelation.create_from(SimpleNamespace(quoting={}), config)
        assert ChangeMethods._topic_at(adapter, relation, {}).topic == node.topic
    with pytest.raises(DbtRuntimeError, match="no source of the model"):
        ChangeMethods._topic_at(adapter, TableStoreRelation.create(schema="s", identifier="orders"), {})


def test_whether_a_model_is_built_anew_is_decided_once():
    """Its query is compiled by the first answer, and its rows are written by the second one."""
    answers = iter([True, False, False])
    adapter = SimpleNamespace(_rebuilds={}, _must_rebuild=lambda this, model, sources: next(answers))
    this = TableStoreRelation.create(schema="s", identifier="orders")
    found = [ChangeMethods.tablestore_rebuilds(adapter, this, {"unique_id": one}, ()) for one in "aabb"]
    assert found == [True, True, False, False]


def test_a_call_for_later_runs_names_its_source():
    """Else no run could say from where the next one goes on: the first one says so, before it writes rows."""
    model = {"unique_id": "model.shop.m", "raw_code": "{{ changes(ref('orders')) }} {{ changes(o) }}"}
    orders = TableStoreRelation.create(schema="s", identifier="Orders")
    for read, named in (([], []), (["s.orders"], [orders])):
        with pytest.raises(DbtRuntimeError, match=r"`changes\(o\)` \(line 1\) in model.shop.m is called in"):
            _refuse_unnamed(model, read, named)
    _refuse_unnamed(model, ["s.orders", "s.returns"], [orders])
    _refuse_unnamed({**model, "raw_code": "{{ changes(ref('orders')) }}"}, [], [])
