"""Of which sources a model's text reads changes, in whichever branch: the calls `changes(ref('orders'))`.

dbt renders one branch of `{% if is_incremental() %}` only. What the other one reads is known from the text, where a
call names its source by constants, or by a name that is set to such ones once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.base import BaseRelation
from dbt_common.exceptions import DbtRuntimeError
from jinja2 import TemplateError, nodes

CHANGES = re.compile(r"\b(?:kafka_)?changes\s*\(")
"""Finds models that may read changes, of tables or topics."""
_REF, _SOURCE = "ref", "source"
_VERSION = ("v", "version")


@dataclass(frozen=True)
class SourceCall:
    """A call of `ref` or `source`, with its arguments and those that are named."""

    function: str
    arguments: tuple[str, ...]
    named: Mapping[str, Any] = field(default_factory=dict)


def calls_of_changes(model: Mapping[str, Any]) -> list[SourceCall]:
    """The arguments of all calls of `changes`, each once; without models on which dbt knows no dependency."""
    found: list[SourceCall] = []
    for one in _arguments(model):
        call = _source_call(one)
        if call is not None and call not in found and _is_known(call, model):
            found.append(call)
    return found


def unnamed_calls(model: Mapping[str, Any]) -> list[str]:
    """The calls of `changes` of which the text does not say which source they read, as a message shows them."""
    unnamed = [one for one in _arguments(model) if _source_call(one) is None]
    shown = (f"changes({one.name if isinstance(one, nodes.Name) else '…'})` (line {one.lineno})" for one in unnamed)
    return [f"`{one}" for one in shown]


def _arguments(model: Mapping[str, Any]) -> Iterator[nodes.Node]:
    text = str(model.get("raw_code") or "")
    if model.get("language", "sql") != "sql" or not CHANGES.search(text):
        return
    from dbt_common.clients.jinja import get_environment

    try:
        tree = get_environment().parse(text)
    except TemplateError:
        return  # dbt says what is wrong with it
    values = _values(tree)
    for call in tree.find_all(nodes.Call):
        given = [*call.args, *(one.value for one in call.kwargs)]
        if isinstance(call.node, nodes.Name) and call.node.name == "changes" and len(given) == 1:
            one = given[0]
            yield values.get(one.name, one) if isinstance(one, nodes.Name) else one


def _values(tree: nodes.Template) -> dict[str, nodes.Node]:
    """The values of names that are set once."""
    named = Counter(one.name for one in tree.find_all(nodes.Name) if one.ctx != "load")
    found = tree.find_all(nodes.Assign)
    return {
        one.target.name: one.node for one in found if isinstance(one.target, nodes.Name) and named[one.target.name] == 1
    }


def _source_call(call: nodes.Node) -> SourceCall | None:
    if not isinstance(call, nodes.Call):
        return None
    if not isinstance(call.node, nodes.Name) or call.node.name not in (_REF, _SOURCE):
        return None
    if call.dyn_args is not None or call.dyn_kwargs is not None:
        return None
    try:
        arguments = tuple(one.as_const() for one in call.args)
        named = {one.key: one.value.as_const() for one in call.kwargs}
    except nodes.Impossible:
        return None
    texts = all(isinstance(one, str) for one in arguments)
    return SourceCall(call.node.name, arguments, named) if texts and set(named) <= set(_VERSION) else None


def _is_known(call: SourceCall, model: Mapping[str, Any]) -> bool:
    if call.function == _SOURCE:
        return len(call.arguments) == 2 and not call.named
    # One node may be named with its package, or its version, and without: dbt finds it, or says that it does not.
    return any((one.get("name"),) == call.arguments[-1:] for one in model.get("refs") or ())


def is_fixture(source: BaseRelation, macro: str, model: Mapping[str, Any]) -> bool:
    """Whether a relation is the rows of a unit test. Raises DbtRuntimeError for an ephemeral model, and for a text."""
    if not isinstance(source, BaseRelation):
        raise DbtRuntimeError(
            f"`{macro}({source!r})` in {model.get('unique_id')}: it takes what `ref(…)` or `source(…)` gives."
        )
    if source.identifier and not source.is_cte:
        return False
    if model.get("tested_node_unique_id") is None and source.is_cte:
        name = str(source.identifier).removeprefix("__dbt__cte__")
        raise DbtRuntimeError(
            f"`{macro}({name})` in {model.get('unique_id')}: an ephemeral model has no table, and so no changes."
            " Read those of the tables below it, or give it `materialized: incremental`."
        )
    return True


_REPLACING = {"microbatch": "windows", "insert_overwrite": "partitions"}


def refuse_windows(call: str, model: Mapping[str, Any]) -> None:
    """Raise DbtRuntimeError where the rows that the model makes replace others than those that changed."""
    strategy = (model.get("config") or {}).get("incremental_strategy")
    if strategy in _REPLACING:
        raise DbtRuntimeError(
            f"`{call}` in {model.get('unique_id')}: the strategy `{strategy}` replaces whole {_REPLACING[strategy]},"
            " but only the rows that changed are read. Use the strategy `changelog`, `upsert` or `append`."
        )
