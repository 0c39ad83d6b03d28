"""The constraints that tables do not have, and the freshness of sources."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dbt_common.events import functions
from dbt_common.exceptions import DbtDatabaseError

from dbt.adapters.tablestore.impl import TableStoreAdapter


@pytest.fixture
def warned(monkeypatch):
    found = []
    monkeypatch.setattr(functions, "warn_or_error", lambda event: found.append(event.constraint))
    return found


@pytest.mark.parametrize("kind", ["unique", "foreign_key", "custom"])
@pytest.mark.parametrize("silent", [None, "warn_unsupported", "warn_unenforced"])
def test_a_warning_names_constraints_that_are_ignored(warned, kind, silent):
    given = {"type": kind, "expression": "x", **({} if silent is None else {silent: False})}
    column = {"name": "a", "data_type": "int", "constraints": [given]}
    assert TableStoreAdapter.render_raw_columns_constraints({"a": column}) == ["a int"]
    assert TableStoreAdapter.render_raw_model_constraints([{**given, "columns": ["a"]}]) == []
    assert warned == ([kind, kind] if silent is None else [])


def test_others_are_kept_without_a_warning(warned):
    given = [{"type": "check", "expression": "a > 0"}, {"type": "primary_key", "columns": ["a"]}]
    assert TableStoreAdapter.render_raw_model_constraints(given) == ["check (a > 0)", "primary key (a)"]
    assert warned == []


def test_a_source_that_is_no_table_leaves_the_freshness_of_others():
    """All are asked for at once, and then each that got no answer, whose error is shown."""

    def freshness(source, macro_resolver):
        if source == "view":
            raise DbtDatabaseError("'s.view' is a view, not a table.")
        return None, {"max_loaded_at": source}

    adapter = SimpleNamespace(calculate_freshness_from_metadata=freshness)
    _, found = TableStoreAdapter.calculate_freshness_from_metadata_batch(adapter, ["a", "view", "b"])
    assert found == {"a": {"max_loaded_at": "a"}, "b": {"max_loaded_at": "b"}}
