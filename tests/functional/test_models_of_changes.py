"""Models whose rows are changes, or which a merge engine folds."""

from __future__ import annotations

import pytest
from support.dbt_models import Models, model, rows, run, table_of


class TestRowKinds(Models):
    def test_a_model_of_changes(self, project):
        text = """
{{ config(materialized='incremental', unique_key='id', row_kind=true) }}
{% if is_incremental() %}
select * from values ('-D', 1, 'gone'), ('+U', 2, 'new'), ('+I', 4, 'd') as t(_row_kind, id, v)
{% else %}
select * from values ('+I', 1, 'a'), ('+I', 2, 'b'), ('+I', 3, 'c'), ('-D', 3, 'c') as t(_row_kind, id, v)
{% endif %}
"""
        model(project, "changes", text)
        run("--full-refresh", "-s", "changes")
        assert rows(project, "changes") == [(1, "a"), (2, "b")]
        run("-s", "changes")
        assert rows(project, "changes") == [(2, "new"), (4, "d")]
        more = text.replace("row_kind=true", "row_kind=true, on_schema_change='fail'")
        model(project, "changes", more)
        run("-s", "changes")
        assert rows(project, "changes") == [(2, "new"), (4, "d")]
        # Without the config, deletes would be written as rows later on.
        model(project, "forgotten", text.replace(", row_kind=true", ""))
        assert "row_kind=true" in run("-s", "forgotten", ok=False)["forgotten"][0]
        model(project, "asked", "{{ config(materialized='table', row_kind=true) }} select 1 as id")
        assert "no column _row_kind" in run("-s", "asked", ok=False)["asked"][0]
        # A MERGE would take the deletes for rows.
        model(project, "changes", text.replace("row_kind=true", "row_kind=true, merge_update_columns=['v']"))
        assert "row_kind" in run("-s", "changes", ok=False)["changes"][0]
        assert rows(project, "changes") == [(2, "new"), (4, "d")]


class TestMergeEngines(Models):
    ADDED_UP = """
{{{{ config(materialized='incremental', unique_key='kind', merge_engine='aggregation', fields={fields}) }}}}
{{% if is_incremental() %}} select 'a' as kind, 5L as total, 'new' as names
{{% else %}} select * from values ('a', 1L, 'x'), ('a', 2L, 'y'), ('b', 4L, 'z') as t(kind, total, names) {{% endif %}}
"""

    def test_increments_add_up(self, project):
        fields = "{'total': 'sum', 'names': {'function': 'listagg', 'list_agg_delimiter': '+'}}"
        model(project, "totals", self.ADDED_UP.format(fields=fields))
        run("--full-refresh", "-s", "totals")
        assert rows(project, "totals") == [("a", 3, "x+y"), ("b", 4, "z")]
        run("-s", "totals")
        run("-s", "totals")
        assert rows(project, "totals") == [("a", 13, "x+y+new+new"), ("b", 4, "z")]
        # Another function would mean something else for the rows that are there.
        model(project, "totals", self.ADDED_UP.format(fields="{'total': 'max', 'names': 'last_value'}"))
        message = run("-s", "totals", ok=False)["totals"][0]
        assert "fields.total.aggregate-function" in message
        assert "--full-refresh" in message
        assert rows(project, "totals") == [("a", 13, "x+y+new+new"), ("b", 4, "z")]
        run("--full-refresh", "-s", "totals")
        assert rows(project, "totals") == [("a", 2, "y"), ("b", 4, "z")]

    def test_strategies_that_replace_rows_are_refused(self, project):
        text = self.ADDED_UP.format(fields="{'total': 'sum'}")
        keyed = "unique_key='kind', primary_key='kind', incremental_strategy='delete+insert'"
        model(project, "replaced", text.replace("unique_key='kind'", keyed))
        run("--full-refresh", "-s", "replaced")
        assert "merge-engine" in run("-s", "replaced", ok=False)["replaced"][0]
        assert rows(project, "replaced", "kind, total") == [("a", 3), ("b", 4)]


class TestChangesWithoutAKey(Models):
    """Models whose rows have no key and say what they do."""

    TEXT = """
{{ config(materialized='incremental', row_kind=true) }}
{% if is_incremental() %}
select * from values ('-D', 'pear', null), ('+I', 'pear', 'ada'), ('-D', 'apple', null) as t(_row_kind, item, customer)
{% else %}
select * from values ('+I', 'apple', null), ('+I', 'apple', null), ('+I', 'pear', null),
  ('-U', 'fig', 'ben'), ('+U', 'fig', 'ben')
  as t(_row_kind, item, customer)
{% endif %}
"""

    @pytest.mark.parametrize(
        "strategy",
        [
            "",
            pytest.param(", incremental_strategy='append'", marks=pytest.mark.soak),
            ", incremental_strategy='merge'",
        ],
    )
    def test_retractions_are_applied(self, project, strategy):
        model(project, "joined", self.TEXT.replace("row_kind=true", f"row_kind=true{strategy}"))
        assert run("-s", "joined", "--full-refresh")["joined"] == ("CREATE TABLE 3 rows", 3)
        assert rows(project, "joined", "item, customer") == [("apple", None), ("apple", None), ("pear", None)]
        assert not table_of(project, "joined").schema.merge_engine.rules.is_multiset
        assert run("-s", "joined")["joined"] == ("INSERT 3 rows", 3)
        assert rows(project, "joined", "item, customer") == [("apple", None), ("pear", "ada")]
        assert table_of(project, "joined").schema.merge_engine.rules.is_multiset
        # The options of the table, now a multiset table, still fit its model, and removing too many rows is reported.
        message, _ = run("-s", "joined")["joined"]
        assert message == "INSERT 3 rows"
        with pytest.raises(Exception, match="removed more often than it was added"):
            rows(project, "joined")
        run("-s", "joined", "--full-refresh")
        assert rows(project, "joined", "count(*)") == [(3,)]

    def test_retractions_may_be_refused(self, project):
        model(
            project,
            "joined",
            self.TEXT.replace("row_kind=true", "row_kind=true, table_options={'retractions': 'refuse'}"),
        )
        message, _ = run("-s", "joined", "--full-refresh", ok=False)["joined"]
        assert "'retractions' = 'refuse'" in message
