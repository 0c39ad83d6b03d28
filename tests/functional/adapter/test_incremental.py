import pytest
from dbt.tests.adapter.incremental.test_incremental_merge_exclude_columns import BaseMergeExcludeColumns
from dbt.tests.adapter.incremental.test_incremental_microbatch import BaseMicrobatch, _microbatch_model_sql
from dbt.tests.adapter.incremental.test_incremental_on_schema_change import BaseIncrementalOnSchemaChange
from dbt.tests.adapter.incremental.test_incremental_predicates import BaseIncrementalPredicates
from dbt.tests.adapter.incremental.test_incremental_unique_id import BaseIncrementalUniqueKey
from dbt.tests.util import patch_microbatch_end_time, run_dbt


@pytest.mark.default_suite("test__bad_unique_key_list", "test__trinary_unique_key_list")
class TestIncrementalUniqueKey(BaseIncrementalUniqueKey):
    """The suite's tables hold two rows of one key, and a key that is no column: they are not keyed tables."""

    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+enforce_key": False}}


@pytest.mark.conformance
class TestIncrementalPredicatesDeleteInsert(BaseIncrementalPredicates):
    pass


@pytest.mark.conformance
class TestPredicatesDeleteInsert(BaseIncrementalPredicates):
    @pytest.fixture(scope="class")
    def project_config_update(self):
        return {"models": {"+predicates": ["id != 2"], "+incremental_strategy": "delete+insert"}}


@pytest.mark.conformance
class TestMergeExcludeColumns(BaseMergeExcludeColumns):
    pass


@pytest.mark.conformance
class TestMicrobatch(BaseMicrobatch):
    pass


@pytest.mark.default_suite("test_rows_that_were_deleted")
class TestMicrobatchKeyed(BaseMicrobatch):
    """The same on a keyed table: rows of the window that the batch no longer has go."""

    @pytest.fixture(scope="class")
    def microbatch_model_sql(self):
        return _microbatch_model_sql.replace("unique_key='id'", "primary_key='id'")

    def test_rows_that_were_deleted(self, project):
        with patch_microbatch_end_time("2020-01-03 13:57:00"):
            run_dbt(["run", "--full-refresh"])
        before = len(project.run_sql(f"select * from {project.test_schema}.microbatch_model", fetch="all"))
        project.run_sql(f"delete from {project.test_schema}.input_model where id = 3")
        with patch_microbatch_end_time("2020-01-03 13:57:00"):
            run_dbt(["run", "--select", "microbatch_model"])
        assert len(project.run_sql(f"select * from {project.test_schema}.microbatch_model", fetch="all")) == before - 1


class TestMicrobatchEastOfUTC:
    """A batch replaces the rows that it reads, whatever the type of its time and the session's time zone.

    dbt compares the source with a plain text, so the window of the target must be one, too: as a `timestamp` it would
    be widened in the session's time zone, and rows of a neighbouring batch would go or stay.
    """

    READS = """
{{{{ config(materialized='incremental', incremental_strategy='microbatch', event_time='{time}', batch_size='day', {more}
     begin=modules.datetime.datetime(2020, 1, 1), sql_header='set spark.sql.session.timeZone=Asia/Tokyo;') }}}}
select id, {time}, current_timezone() as zone from {{{{ ref('by_{time}') }}}}
"""
    EVENTS = """
{{{{ config(event_time='{time}') }}}}
select id, cast(at as date) as day, at from values
  (1, timestamp_ntz'2020-01-01 00:00:00'), (2, timestamp_ntz'2020-01-01 23:30:00'),
  (3, timestamp_ntz'2020-01-02 00:00:00'), (4, timestamp_ntz'2020-01-02 08:00:00'),
  (5, timestamp_ntz'2020-01-02 20:00:00'), (6, timestamp_ntz'2020-01-03 01:00:00') as t(id, at)
where id <> {{{{ var('removed', 0) }}}}
"""

    @pytest.fixture(scope="class")
    def models(self):
        texts = {f"by_{time}.sql": self.EVENTS.format(time=time) for time in ("day", "at")}
        texts["keyed.sql"] = self.READS.format(time="day", more="primary_key='id',")
        return {**texts, "plain.sql": self.READS.format(time="at", more="")}

    def test_each_row_occurs_once(self, project):
        for deleted in (0, 4):
            with patch_microbatch_end_time("2020-01-04 00:00:00"):
                run_dbt(["run", "--vars", f"removed: {deleted}"])
            for name in ("plain", "keyed"):
                found = project.run_sql(f"select id, zone from {project.test_schema}.{name} order by id", fetch="all")
                expected = [(i, "Asia/Tokyo") for i in range(1, 7) if i != deleted]
                assert [tuple(one) for one in found] == expected, (name, deleted)


@pytest.mark.conformance
class TestIncrementalOnSchemaChange(BaseIncrementalOnSchemaChange):
    pass
