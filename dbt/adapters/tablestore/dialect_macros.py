"""Dispatch and queries of macros, while the text of a node is made that is written in a dialect.

A package has a macro for each warehouse: `snowflake__x`, `spark__x`, `default__x`. dbt looks for the prefixes of the
adapter, `tablestore__`, `spark__` and `default__`. The text of a macro becomes part of the node's text and is read in
the node's dialect, so that dispatch looks for the prefixes of that warehouse instead: `tablestore__`, those of the
warehouse, `default__`. The `spark__` macros of dbt-spark itself stay where they are, because this adapter overrides
those whose text is not the same in every dialect. A query that such a macro runs is in the dialect, too.

Invariant: whatever is not the text of such a node remains as dbt does it. That is a materialization, a hook, an
operation, a macro that the adapter calls, and the dispatch of a macro that asks for metadata, which Spark has.

dbt-core has no way to do this for one node: the method `dispatch` of its `BaseDatabaseWrapper`, which is `adapter` in
macros, is replaced once in a process, and `execute` is added. In a dbt-core without these names nothing is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NoReturn

from dbt.adapters.factory import get_adapter_package_names, get_adapter_type_names
from dbt_common.events.contextvars import get_node_info
from dbt_common.exceptions import CompilationError, DbtRuntimeError

from tablestore_engine.sql.tokens.lexer import tokenize

PREFIXES: Final = {
    "snowflake": ("snowflake",),
    "bigquery": ("bigquery",),
    "redshift": ("redshift", "postgres"),
    "postgres": ("postgres",),
    "duckdb": ("duckdb",),
    "databricks": ("databricks", "spark"),
    "trino": ("trino",),
}
"""The prefixes that dbt's adapter of each warehouse, and the adapters that it depends on, look for."""

_NODES = ("model", "snapshot", "test", "unit_test", "analysis", "sql_operation")
"""The kinds of nodes whose text has a dialect."""

_METADATA = re.compile(r"get_(tables|table_types|relations|columns|schemas|catalog)(_|$)")

_QUERIES = ("SELECT", "WITH", "FROM")

_Dispatch = Callable[..., Any]


@cache
def install() -> None:
    """Let `adapter` in macros know the dialects of nodes, in this process."""
    try:
        from dbt.context.providers import BaseDatabaseWrapper, RuntimeDatabaseWrapper
    except ImportError:
        return
    original = getattr(BaseDatabaseWrapper, "dispatch", None)
    if original is None or not hasattr(BaseDatabaseWrapper, "_get_adapter_macro_prefixes"):
        return

    def dispatch(self: Any, macro_name: str, macro_namespace: Any = None, packages: Any = None) -> Any:
        return dispatched(self, original, macro_name, macro_namespace, packages)

    def execute(self: Any, sql: str, *args: Any, **kwargs: Any) -> Any:
        return self._adapter.execute(sparks_query(self, sql), *args, **kwargs)

    BaseDatabaseWrapper.dispatch = dispatch  # type: ignore[method-assign]
    RuntimeDatabaseWrapper.execute = execute  # type: ignore[attr-defined]


def dispatched(wrapper: Any, original: _Dispatch, name: str, *rest: Any) -> Any:
    """The macro that `adapter.dispatch` finds. original: the method of dbt-core."""
    dialect_of = getattr(getattr(wrapper, "_adapter", None), "dialect_of_text", None)
    if dialect_of is None or _METADATA.match(name):
        return original(wrapper, name, *rest)
    parsing = _is_parsing(wrapper)
    node, context = _node_of(wrapper)
    dialect = _dialect_of(dialect_of, node, context, parsing) if is_text(node) else None
    if dialect is None:
        return _found_by_any(wrapper, original, name, *rest) if parsing else original(wrapper, name, *rest)
    try:
        found = _found_in_dialect(wrapper, original, dialect, name, *rest)
    except CompilationError:
        if not parsing:
            raise
        return _found_by_any(wrapper, original, name, *rest)
    if parsing and not _is_internal(wrapper, found):
        node.depends_on.add_macro(found.macro.unique_id)  # dbt itself knows those that static parsing finds
    return found


def sparks_query(wrapper: Any, sql: str) -> str:
    """The statement that a macro runs, as Spark's SQL if it is a query in the dialect of the text that is made."""
    dialect_of = getattr(wrapper._adapter, "dialect_of_text", None)
    node, _ = _node_of(wrapper)
    if dialect_of is None or not is_text(node):
        return sql
    dialect = dialect_of(node)
    first = next(iter(tokenize(sql)), None)
    if dialect is None or first is None or first.key not in _QUERIES:
        return sql
    return str(wrapper._adapter.query_of_dialect(sql, dialect))


def _found_in_dialect(wrapper: Any, original: _Dispatch, dialect: str, name: str, *rest: Any) -> Any:
    own, *parents = get_adapter_type_names(wrapper._adapter.type())
    chain = PREFIXES[dialect]
    others = [one for one in (*parents, "default") if one not in chain]
    found = _found(wrapper, original, (own, *chain, *others), name, *rest)
    if "spark" in chain or not found.macro.name.startswith("spark__") or _is_internal(wrapper, found):
        return found
    try:
        return _found(wrapper, original, (own, *chain, "default"), name, *rest)
    except CompilationError:
        _refuse(name, found.macro.name, dialect)


def _refuse(name: str, found: str, dialect: str) -> NoReturn:
    raise CompilationError(
        f"The macro {name} has a text for Spark ({found}), and none for {dialect}, the dialect of this text, which "
        f"would read it as its own. Write tablestore__{name} in the project, in {dialect}'s SQL (and `dispatch` in "
        "dbt_project.yml with the project first), or this text with `dialect: spark`."
    ) from None


def _found_by_any(wrapper: Any, original: _Dispatch, name: str, *rest: Any) -> Any:
    """As dbt finds it, or else by the prefix of any warehouse: dialects that files set are not known while they are
    parsed."""
    try:
        return original(wrapper, name, *rest)
    except CompilationError:
        prefixes = dict.fromkeys(one for chain in PREFIXES.values() for one in chain)
        try:
            return _found(wrapper, original, tuple(prefixes), name, *rest)
        except CompilationError:
            pass
        raise


def _found(wrapper: Any, original: _Dispatch, prefixes: Sequence[str], name: str, *rest: Any) -> Any:
    """The macro that is found by these prefixes: by a wrapper of its own, because others look for theirs."""
    searching = type(wrapper)(wrapper._adapter, wrapper._namespace)
    searching._get_adapter_macro_prefixes = lambda: list(prefixes)
    return original(searching, name, *rest)


def _is_internal(wrapper: Any, found: Any) -> bool:
    return found.macro.package_name in get_adapter_package_names(wrapper._adapter.type())


def _is_parsing(wrapper: Any) -> bool:
    from dbt.context.providers import ParseDatabaseWrapper

    return isinstance(wrapper, ParseDatabaseWrapper)


def _node_of(wrapper: Any) -> tuple[Any, Any]:
    """The node of the text that a wrapper is for, and its context; None where there is none. Each macro knows them."""
    known = wrapper._namespace.get_from_package("dbt", "statement")
    return getattr(known, "node", None), getattr(known, "context", None)


def is_text(node: Any) -> bool:
    """Whether the text of a node is being made, and not a statement from it.

    A node is compiled once its text is made. Ephemeral models never are more than a text, which several threads may
    make at once; a batch, and a manifest that is used again, have compiled nodes whose text is made anew.
    """
    if getattr(node, "resource_type", None) not in _NODES or getattr(node, "language", "sql") != "sql":
        return False
    if not getattr(node, "compiled", False) or getattr(node, "is_ephemeral_model", False):
        return True
    return get_node_info().get("node_status") == "compiling"


def _dialect_of(dialect_of: Callable[[Any], str | None], node: Any, context: Any, parsing: bool) -> str | None:
    if not parsing:
        return dialect_of(node)
    # A call of config() in the text has run, but is not yet in the node's config.
    config = (context or {}).get("config")
    called = getattr(getattr(config, "context_config", None), "_config_call_dict", None) or {}
    try:
        return dialect_of({"config": called, "package_name": node.package_name} if "dialect" in called else node)
    except DbtRuntimeError:  # another name of a dialect fails where the model runs
        return None
