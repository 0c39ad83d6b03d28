"""When macros make the text of a node, and which prefixes each dialect has."""

from __future__ import annotations

import pytest
from dbt.artifacts.resources import FileHash
from dbt.artifacts.schemas.results import RunningStatus
from dbt.contracts.graph.model_config import NodeConfig
from dbt.contracts.graph.nodes import HookNode, ModelNode
from dbt.node_types import NodeType
from dbt_common.events.contextvars import log_contextvars

from dbt.adapters.tablestore.dialect.refusal import DIALECTS
from dbt.adapters.tablestore.dialect_macros import PREFIXES, is_text


def node(kind=ModelNode, resource_type=NodeType.Model, **given):
    names = {"database": None, "schema": "s", "name": "m", "package_name": "p", "alias": "m"}
    paths = {"path": "m.sql", "original_file_path": "models/m.sql", "unique_id": "model.p.m", "fqn": ["p", "m"]}
    return kind(**names, **paths, resource_type=resource_type, checksum=FileHash.empty(), **given)


def test_the_text_is_made_until_the_node_is_compiled():
    assert is_text(node())
    assert not is_text(node(compiled=True))


@pytest.mark.parametrize(("status", "expected"), [(RunningStatus.Compiling, True), (RunningStatus.Executing, False)])
def test_a_batch_is_compiled_anew(status, expected):
    batch = node(compiled=True)
    with log_contextvars(node_info={}):
        batch.update_event_status(node_status=status)
        assert is_text(batch) is expected


def test_an_ephemeral_model_is_always_a_text():
    """Another thread may have compiled it meanwhile."""
    assert is_text(node(compiled=True, config=NodeConfig(materialized="ephemeral")))


def test_hooks_python_and_macros_that_the_adapter_calls_are_none():
    assert not is_text(node(HookNode, NodeType.Operation))
    assert not is_text(node(language="python"))
    assert not is_text(None)


def test_each_dialect_has_prefixes():
    assert sorted(PREFIXES) == sorted(DIALECTS)
