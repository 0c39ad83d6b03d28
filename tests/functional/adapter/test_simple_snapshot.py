import pytest
from dbt.tests.adapter.simple_snapshot import test_various_configs as various_configs
from dbt.tests.adapter.simple_snapshot.fixtures import snapshot_actual_sql
from dbt.tests.adapter.simple_snapshot.new_record_check_mode import BaseSnapshotNewRecordCheckMode
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import (
    BaseSnapshotNewRecordDbtValidToCurrent,
)
from dbt.tests.adapter.simple_snapshot.new_record_dbt_valid_to_current import (
    _snapshot_actual_sql as simple_snapshot_actual_sql,
)
from dbt.tests.adapter.simple_snapshot.new_record_timestamp_mode import BaseSnapshotNewRecordTimestampMode
from dbt.tests.adapter.simple_snapshot.test_ephemeral_snapshot_hard_deletes import (
    BaseSnapshotEphemeralHardDeletes,
    BaseSnapshotNewColumnSpecificCheckCols,
    BaseSnapshotNewColumnTimestampStrategy,
    BaseSnapshotNewColumnWithDeletes,
)
from dbt.tests.adapter.simple_snapshot.test_snapshot import BaseSimpleSnapshot, BaseSnapshotCheck
from dbt.tests.adapter.simple_snapshot.test_various_configs import (
    BaseSnapshotColumnNames,
    BaseSnapshotColumnNamesFromDbtProject,
    BaseSnapshotDbtValidToCurrent,
    BaseSnapshotInvalidColumnNames,
    BaseSnapshotMultiUniqueKey,
)
from support.sparkish import Sparkish, sparkish


@pytest.mark.default_suite("test_deletes_are_captured_by_snapshot", "test_updates_are_captured_by_snapshot")
class TestSimpleSnapshot(BaseSimpleSnapshot):
    pass


@pytest.mark.conformance
class TestSnapshotCheck(BaseSnapshotCheck):
    pass


@pytest.mark.conformance
class TestSnapshotNewRecordCheckMode(Sparkish, BaseSnapshotNewRecordCheckMode):
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": sparkish(snapshot_actual_sql)}


@pytest.mark.conformance
class TestSnapshotNewRecordTimestampMode(Sparkish, BaseSnapshotNewRecordTimestampMode):
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": sparkish(snapshot_actual_sql)}


class TestSnapshotNewRecordDbtValidToCurrent(Sparkish, BaseSnapshotNewRecordDbtValidToCurrent):
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": sparkish(simple_snapshot_actual_sql)}


class TestSnapshotEphemeralHardDeletes(Sparkish, BaseSnapshotEphemeralHardDeletes):
    pass


@pytest.mark.conformance
class TestSnapshotNewColumnTimestampStrategy(Sparkish, BaseSnapshotNewColumnTimestampStrategy):
    pass


class TestSnapshotNewColumnSpecificCheckCols(Sparkish, BaseSnapshotNewColumnSpecificCheckCols):
    pass


class TestSnapshotNewColumnWithDeletes(Sparkish, BaseSnapshotNewColumnWithDeletes):
    pass


class TestSnapshotColumnNames(Sparkish, BaseSnapshotColumnNames):
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": sparkish(snapshot_actual_sql)}


@pytest.mark.conformance
class TestSnapshotColumnNamesFromDbtProject(Sparkish, BaseSnapshotColumnNamesFromDbtProject):
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": sparkish(snapshot_actual_sql)}


@pytest.mark.conformance
class TestSnapshotInvalidColumnNames(Sparkish, BaseSnapshotInvalidColumnNames):
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": sparkish(snapshot_actual_sql)}


@pytest.mark.conformance
class TestSnapshotDbtValidToCurrent(Sparkish, BaseSnapshotDbtValidToCurrent):
    @pytest.fixture(scope="class")
    def snapshots(self):
        return {"snapshot.sql": sparkish(snapshot_actual_sql)}

    @pytest.fixture(autouse=True)
    def in_order(self, monkeypatch):
        """The suite expects rows in the order in which they came; a table has no order."""
        ask = various_configs.run_sql_with_adapter
        numbered = (
            "(select *, row_number() over (partition by id order by test_valid_from) as n "
            "from {schema}.snapshot_actual)"
        )

        def in_order(adapter, sql, fetch):
            return ask(adapter, sql.replace("{schema}.snapshot_actual", numbered) + " order by n, id", fetch)

        monkeypatch.setattr(various_configs, "run_sql_with_adapter", in_order)


@pytest.mark.conformance
class TestSnapshotMultiUniqueKey(Sparkish, BaseSnapshotMultiUniqueKey):
    pass
