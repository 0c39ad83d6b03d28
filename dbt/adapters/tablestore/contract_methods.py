"""The dialect and the enforced contract of a node: the methods about the columns that its files declare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dbt.adapters.base import available
from dbt.adapters.sql import SQLAdapter
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.config import contracts
from dbt.adapters.tablestore.config.dialect_config import dialect_of
from dbt.adapters.tablestore.config.model_config import with_written_configs
from dbt.adapters.tablestore.config.text_types import compared, has_length, listed_columns, text_types
from dbt.adapters.tablestore.dialect.translate import translation_of
from dbt.adapters.tablestore.relation.column import TableStoreColumn
from tablestore_engine.schema.table.row_kind import ROW_KIND
from tablestore_engine.schema.types.sql_literals import spark_type
from tablestore_engine.schema.types.types import DataType


class ContractMethods(SQLAdapter):
    """The part of the adapter that knows what a node's files declare."""

    @available.parse(lambda *a, **k: "")
    def tablestore_dialect(self, model: Mapping[str, Any]) -> str:
        """The dialect that a node is written in; empty for Spark's."""
        return (self.dialect_of_text(model) if model else None) or ""

    def dialect_of_text(self, node: Any) -> str | None:
        """The dialect of a node's text, for a node as dbt or a macro has it; None for Spark's."""
        known = node if isinstance(node, Mapping) else vars(node)
        tested = known.get("tested_node_unique_id")
        return self._dialect_of(tested) if tested else dialect_of(node, self._variables(node), self._own_dialect)

    @property
    def _own_dialect(self) -> str | None:
        return self.config.credentials.dialect

    def _variables(self, node: Any) -> Mapping[str, Any]:
        """The variables of a node's project and of the command line."""
        package = node["package_name"] if isinstance(node, Mapping) else node.package_name
        given = self.config.vars.to_dict()
        return {**given, **(given.get(package) or {}), **self.config.cli_vars}

    def _dialect_of(self, node_id: str) -> str | None:
        """The dialect of another node of the project."""
        node = getattr(self.get_macro_resolver(), "nodes", {}).get(node_id)
        return None if node is None else dialect_of(node, self._variables(node), self._own_dialect)

    @available.parse(lambda *a, **k: {})
    def tablestore_own_columns(self, columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
        """The columns of a model without fields of structs."""
        return contracts.own_columns(columns)

    @available.parse(lambda *a, **k: "")
    def tablestore_contract_sql(self, model: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]]) -> str:
        """The query without rows of a contract's columns, whose types and names are those of the node's dialect; empty
        where it has none, or one is no type there: then they are Spark's."""
        dialect, written = self.tablestore_dialect(model), self._written_types(model)
        if not dialect or not all(written.get(str(one["name"])) for one in columns.values()):
            return ""
        names = ((str(one["name"]), bool(one.get("quote"))) for one in columns.values())
        items = (f"cast(null as {written[name]}) as {self.quote(name) if quoted else name}" for name, quoted in names)
        try:
            return translation_of("The contract", f"select {', '.join(items)}", dialect).text
        except DbtRuntimeError:
            return ""

    @available.parse(lambda *a, **k: "")
    def tablestore_compared_type(self, model: Mapping[str, Any], column: TableStoreColumn) -> str:
        """The type of a column as an enforced contract compares it: without the lengths of texts."""
        return compared(column.without_lengths, self.tablestore_dialect(model))

    def _written_types(self, model: Mapping[str, Any]) -> dict[str, str]:
        """The types of a node's columns as they are written. In `model`, dbt has made Spark's of some."""
        node = getattr(self.get_macro_resolver(), "nodes", {}).get(model.get("unique_id"))
        own = {str(one["name"]): one.get("data_type") for one in (model.get("columns") or {}).values()}
        written = own if node is None else {one.name: one.data_type for one in node.columns.values()}
        return {name: str(kind) for name, kind in written.items() if kind}

    def _with_written_configs(self, model: Mapping[str, Any]) -> dict[str, Any]:
        file = getattr(self.get_macro_resolver(), "files", {}).get(model.get("patch_path"))
        return with_written_configs(model, getattr(file, "dfy", {}))

    def _text_types(self, model: Mapping[str, Any]) -> dict[str, DataType]:
        """The types that a node's table has from its contract, by the lower-case name of the column."""
        if not contracts.is_kept(model):
            return {}
        written = self._written_types(model)
        columns = ((name, written.get(name)) for name in contracts.names(model))
        return text_types(columns, self.tablestore_dialect(model))

    def _listed_columns(self, model: Mapping[str, Any]) -> tuple[str, ...]:
        """The columns of a node's contract as CREATE TABLE … AS lists them; empty when none has a type from it."""
        return listed_columns(
            (one for one in contracts.names(model) if one.lower() != ROW_KIND), self._text_types(model)
        )

    def _as_declared(self, columns: Iterable[TableStoreColumn], model: Mapping[str, Any]) -> list[TableStoreColumn]:
        """The columns of a node's query, with the texts and numbers of its contract."""
        types = self._text_types(model)
        found = ((one, types.get(one.name.lower())) for one in columns)
        return [
            one if kind is None else TableStoreColumn(one.name, spark_type(kind), declared=True) for one, kind in found
        ]

    def _seed_types(self, names: Iterable[str], model: Mapping[str, Any]) -> dict[str, str]:
        """The types that are declared for the columns of a seed, by `column_types` or, with lengths, by a contract."""
        types = self._text_types(model)
        found = ((name, types.get(name.lower())) for name in names)
        declared = {name: spark_type(kind) for name, kind in found if kind is not None and has_length(kind)}
        return {**declared, **(model["config"].get("column_types") or {})}

    @available.parse_list
    def tablestore_contract_columns(self, model: Mapping[str, Any]) -> list[str]:
        """The select items of an enforced contract. Warns about constraints that are not enforced."""
        self.render_raw_columns_constraints(raw_columns=model["columns"])
        self.render_raw_model_constraints(raw_constraints=model.get("constraints") or [])
        return contracts.select_list(model, self._text_types(model))
