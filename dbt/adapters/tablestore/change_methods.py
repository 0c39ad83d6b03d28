"""The methods behind the macros of changes: what a model reads of other tables, and how far it is behind them.

Their decisions are in `build.model_changes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.adapters.base import BaseRelation, available
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.tablestore.build.model_changes import CHANGES, ERROR, STORED, ModelChanges, on_expired_of
from dbt.adapters.tablestore.schema_methods import SchemaMethods


class ChangeMethods(SchemaMethods):
    """The part of the adapter that knows what models have read of other tables."""

    _changes: ModelChanges | None
    _warned: dict[str, object]

    @property
    def _model_changes(self) -> ModelChanges:
        if self._changes is None:
            self._changes = ModelChanges(self.catalog)
        return self._changes

    @available.parse(lambda *a, **k: "")
    def tablestore_changes(
        self, source: BaseRelation, this: BaseRelation, model: Mapping[str, Any], incremental: bool
    ) -> str:
        """The text of `changes(source)`: the rows that changed since the model's last run, or all rows as inserted."""
        if not source.identifier or source.is_cte:
            return str(source.render())  # the rows of a unit test
        if model.get("resource_type") != "model" or (model.get("config") or {}).get("materialized") not in STORED:
            raise DbtRuntimeError(
                f"`changes({source.identifier})` in {model.get('unique_id')}: only an incremental model or a table can"
                " say up to where it was computed. `table_changes('schema.table', from, to)` gives any other range."
            )
        with self.connections.exception_handler("changes"):
            before = self._model_changes.position(this, source) if incremental else None
            return self._model_changes.changes_sql(str(model["unique_id"]), source, before)

    @available.parse(lambda *a, **k: "")
    def tablestore_pinned(self, source: BaseRelation, model: Mapping[str, Any]) -> str:
        """The rows of a source at the snapshot up to which the model reads its changes."""
        if not source.identifier or source.is_cte:
            return str(source.render())
        with self.connections.exception_handler("snapshot"):
            return self._model_changes.pinned_sql(str(model["unique_id"]), source)

    @available.parse(lambda *a, **k: False)
    def tablestore_rebuilds(self, this: BaseRelation, model: Mapping[str, Any]) -> bool:
        """Whether an incremental model is built anew, because changes that it needs are lost.

        Raises DbtRuntimeError where its config `on_expired` does not allow that.
        """
        if not CHANGES.search(str(model.get("raw_code", ""))):
            return False
        allowed = on_expired_of(model.get("config") or {})
        with self.connections.exception_handler("changes"):
            lost = self._model_changes.lost(str(model["unique_id"]), this)
        if lost and allowed == ERROR:
            raise DbtRuntimeError(f"{lost} Run it with --full-refresh, or set `on_expired: full_refresh`.")
        if lost:
            self.tablestore_warn_once(f"{lost} It is built anew (`on_expired: full_refresh`).")
        return bool(lost)

    @available.parse_list
    def tablestore_lag_of(self, relation: BaseRelation) -> list[str]:
        """A line for each source of a model: how far the model is behind it."""
        with self.connections.exception_handler("lag"):
            return [str(lag) for lag in self._model_changes.lags(relation)]

    @available.parse_none
    def tablestore_warn_once(self, message: str) -> None:
        """Show a warning once in a dbt command, for however many models it is given."""
        mine = object()
        if self._warned.setdefault(message, mine) is not mine:  # atomic, because several threads build models
            return
        from dbt.adapters.events.types import AdapterEventWarning
        from dbt_common.events.functions import warn_or_error

        warn_or_error(AdapterEventWarning(name="tablestore", base_msg=message))
