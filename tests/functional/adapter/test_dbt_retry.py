"""What runs again: by `dbt retry`, what failed and what was skipped for it; within a command, a lost commit."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file
from support.dbt_models import table_of

from dbt.adapters.tablestore.connection import connection_manager
from tablestore_engine.errors import CommitOutcomeUnknownError, StorageError
from tablestore_engine.operation.commit.commit import Committer
from tablestore_engine.storage.metadata_files.snapshot_store import SnapshotStore

GOOD = "{{ config(materialized='table') }} select 1 as id"
BAD = "{{ config(materialized='table') }} select nothing as id from {{ ref('good') }}"
MENDED = "{{ config(materialized='table') }} select id + 1 as id from {{ ref('good') }}"
BEHIND = "{{ config(materialized='incremental', unique_key='id') }} select id * 10 as id from {{ ref('bad') }}"


def statuses(results):
    return {one.node.name: str(one.status) for one in results}


class TestRetry:
    @pytest.fixture(scope="class")
    def models(self):
        return {"good.sql": GOOD, "bad.sql": BAD, "behind.sql": BEHIND}

    def snapshot(self, project, name):
        return table_of(project, name).latest_snapshot()

    def exists(self, project, name):
        return project.adapter.catalog.table_exists(project.test_schema, name)

    def ids(self, project, name):
        table = table_of(project, name)
        return table.to_arrow().column("id").to_pylist()

    def test_only_what_failed_runs_again(self, project):
        first = run_dbt(["run"], expect_pass=False)
        assert statuses(first) == {"good": "success", "bad": "error", "behind": "skipped"}
        built = self.snapshot(project, "good")
        assert not self.exists(project, "bad")

        # Nothing was mended: the same again.
        again = run_dbt(["retry"], expect_pass=False)
        assert statuses(again) == {"bad": "error", "behind": "skipped"}

        write_file(MENDED, project.project_root, "models", "bad.sql")
        third = run_dbt(["retry"])
        assert statuses(third) == {"bad": "success", "behind": "success"}
        assert self.snapshot(project, "good") == built
        assert self.ids(project, "bad") == [2]
        assert self.ids(project, "behind") == [20]

        # Nothing failed: nothing to do.
        done = self.snapshot(project, "behind")
        assert statuses(run_dbt(["retry"])) == {}
        assert self.snapshot(project, "behind") == done


SUMS = """
{{ config(materialized='incremental', unique_key='id', merge_engine='aggregation', fields={'v': 'sum'}) }}
select 1 as id, cast(5 as bigint) as v
"""


class TestALostAnswer:
    """Storage makes a snapshot and fails to say so, once: the model's batch is sent again and counts once."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"sums.sql": SUMS}

    @pytest.mark.parametrize("made", [True, False], ids=["made", "not made"])
    def test_a_batch_counts_once(self, project, monkeypatch, made):
        monkeypatch.setattr(connection_manager, "_PAUSE_SECONDS", 0)
        run_dbt(["run", "--full-refresh"])
        table = table_of(project, "sums")
        before = table.latest_snapshot().id
        create, load, lost = SnapshotStore.try_create, SnapshotStore.load, []

        def create_once(self, snapshot):
            if lost:
                return create(self, snapshot)
            lost.append(made and create(self, snapshot))
            monkeypatch.setattr(SnapshotStore, "load", no_answer)
            raise StorageError("snapshot", "the connection was lost")

        def no_answer(self, snapshot_id):
            monkeypatch.setattr(SnapshotStore, "load", load)
            raise StorageError("snapshot", "the connection was lost")

        monkeypatch.setattr(SnapshotStore, "try_create", create_once)
        run_dbt(["run"])
        assert lost == [made]
        assert table.to_arrow().to_pylist() == [{"id": 1, "v": 10}]
        written = [s for s in table.snapshots() if s.id > before and s.commit_kind == "APPEND"]
        assert [s.commit_user.startswith("dbt-") for s in written] == [True]


ADDS = "{{ config(materialized='incremental', incremental_strategy='append') }} select 1 as id"

COMPUTES = """
def model(dbt, session):
    dbt.config(materialized="incremental", incremental_strategy="append")
    return session.sql("select 1 as id")
"""


class TestRetryAfterALostAnswer:
    """The command never learns what was committed, so it fails; its retries, and theirs, add nothing twice."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"sums.sql": SUMS, "adds.sql": ADDS, "computes.py": COMPUTES}

    @pytest.mark.parametrize("made", [True, False], ids=["made", "not made"])
    def test_a_batch_counts_once(self, project, monkeypatch, made):
        monkeypatch.setattr(connection_manager, "_PAUSE_SECONDS", 0)
        monkeypatch.setattr(connection_manager, "_ATTEMPTS", 1)
        run_dbt(["run", "--full-refresh"])

        def answer_lost(self, snapshot):
            if made:
                publish(self, snapshot)
            raise CommitOutcomeUnknownError("the connection was lost")

        publish = Committer._publish
        with monkeypatch.context() as patch:
            patch.setattr(Committer, "_publish", answer_lost)
            assert set(statuses(run_dbt(["run"], expect_pass=False)).values()) == {"error"}
            if not made:
                assert set(statuses(run_dbt(["retry"], expect_pass=False)).values()) == {"error"}
        assert statuses(run_dbt(["retry"])) == {
            "sums": "success",
            "adds": "success",
            "computes": "success",
        }
        assert self.rows(project, "sums") == [{"id": 1, "v": 10}]
        assert self.rows(project, "adds") == [{"id": 1}] * 2
        assert self.rows(project, "computes") == [{"id": 1}] * 2
        run_dbt(["run", "-s", "sums"])  # another command is another batch
        assert self.rows(project, "sums") == [{"id": 1, "v": 15}]

    def rows(self, project, name):
        return table_of(project, name).to_arrow().to_pylist()


class TestRetryOfTheRunThatMadeTheTable:
    """Its hook failed after the table was there; the retry finds the table, and would add the same rows to it."""

    @pytest.fixture(scope="class")
    def models(self):
        hook = "post_hook=\"{{ 'select nothing' if var('broken', false) else 'select 1' }}\", materialized"
        return {
            name: text.replace("materialized", hook, 1) for name, text in {"sums.sql": SUMS, "adds.sql": ADDS}.items()
        } | {"computes.py": COMPUTES.replace("materialized", 'post_hook="select nothing", materialized', 1)}

    def test_its_rows_count_once(self, project):
        first = run_dbt(["run", "--vars", "{broken: true}"], expect_pass=False)
        assert set(statuses(first).values()) == {"error"}
        run_dbt(["retry", "--vars", "{broken: false}"], expect_pass=False)
        for name, rows in {"sums": [{"id": 1, "v": 5}], "adds": [{"id": 1}], "computes": [{"id": 1}]}.items():
            assert table_of(project, name).to_arrow().to_pylist() == rows, name
