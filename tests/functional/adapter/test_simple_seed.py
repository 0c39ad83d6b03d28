from pathlib import Path

import pytest
from dbt.tests.adapter.simple_seed import fixtures, seeds
from dbt.tests.adapter.simple_seed import test_seed as suite
from dbt.tests.adapter.simple_seed.test_seed import (
    BaseBasicSeedTests,
    BaseSeedConfigFullRefreshOff,
    BaseSeedConfigFullRefreshOn,
    BaseSeedCustomSchema,
    BaseSeedParsing,
    BaseSeedSpecificFormats,
    BaseSeedWithEmptyDelimiter,
    BaseSeedWithUniqueDelimiter,
    BaseSeedWithWrongDelimiter,
    BaseSimpleSeedEnabledViaConfig,
    BaseSimpleSeedWithBOM,
    BaseTestEmptySeed,
)
from dbt.tests.adapter.simple_seed.test_seed_type_override import BaseSimpleSeedColumnOverride
from dbt.tests.util import copy_file, run_dbt


class SparkExpected:
    """Fills the suite's expected table with Spark's types and quotes."""

    @pytest.fixture(scope="class", autouse=True)
    def setUp(self, project):
        project.run_sql(
            seeds.seeds__expected_sql.replace('"', "`")
            .replace("TEXT", "STRING")
            .replace("TIMESTAMP WITHOUT TIME ZONE", "TIMESTAMP")
        )


class TestBasicSeed(SparkExpected, BaseBasicSeedTests):
    def test_simple_seed_full_refresh_flag(self, project):
        """A seed is replaced in one atomic step, so what depends on it stays."""
        self._build_relations_for_test(project)
        self._check_relation_end_state(run_result=run_dbt(["seed", "--full-refresh"]), project=project, exists=True)


@pytest.mark.conformance
class TestSeedConfigFullRefreshOn(SparkExpected, BaseSeedConfigFullRefreshOn):
    def test_simple_seed_full_refresh_config(self, project):
        """As above."""
        self._build_relations_for_test(project)
        self._check_relation_end_state(run_result=run_dbt(["seed"]), project=project, exists=True)


@pytest.mark.conformance
class TestSeedConfigFullRefreshOff(SparkExpected, BaseSeedConfigFullRefreshOff):
    pass


@pytest.mark.conformance
class TestSeedCustomSchema(SparkExpected, BaseSeedCustomSchema):
    pass


@pytest.mark.conformance
class TestSeedWithUniqueDelimiter(SparkExpected, BaseSeedWithUniqueDelimiter):
    pass


class TestSeedWithWrongDelimiter(SparkExpected, BaseSeedWithWrongDelimiter):
    pass


@pytest.mark.conformance
class TestSeedWithEmptyDelimiter(SparkExpected, BaseSeedWithEmptyDelimiter):
    pass


@pytest.mark.conformance
class TestSimpleSeedEnabledViaConfig(BaseSimpleSeedEnabledViaConfig):
    pass


class TestSeedParsing(SparkExpected, BaseSeedParsing):
    pass


@pytest.mark.conformance
class TestSimpleSeedWithBOM(SparkExpected, BaseSimpleSeedWithBOM):
    @pytest.fixture(scope="class", autouse=True)
    def bom(self, project, setUp):
        copy_file(
            Path(suite.__file__).parent,
            "seed_bom.csv",
            project.project_root / Path("seeds") / "seed_bom.csv",
            "",
        )


@pytest.mark.conformance
class TestSeedSpecificFormats(BaseSeedSpecificFormats):
    @pytest.fixture(scope="class")
    def test_data_dir(self, tmp_path_factory):
        return tmp_path_factory.mktemp("seeds") / "data"


class TestEmptySeed(BaseTestEmptySeed):
    pass


class TestSimpleSeedColumnOverride(BaseSimpleSeedColumnOverride):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "schema.yml": fixtures.properties__schema_yml.replace("type: text", "type: string")
            .replace("character varying(256)", "string")
            .replace("double precision", "double")
            .replace("timestamp without time zone", "timestamp")
            .replace("type: integer", "type: bigint")
        }
