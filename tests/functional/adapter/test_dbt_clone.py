import pytest
from dbt.tests.adapter.dbt_clone.test_dbt_clone import (
    BaseCloneNotPossible,
    BaseClonePossible,
    BaseCloneSameSourceAndTarget,
    BaseCloneSameTargetAndState,
)
from support.sparkish import Sparkish


class DropsSchemas:
    @pytest.fixture(autouse=True)
    def clean_up(self, project, other_schema):
        yield
        with project.adapter.connection_named("__test"):
            for schema in (f"{project.test_schema}_seeds", other_schema, project.test_schema):
                project.adapter.drop_schema(project.adapter.Relation.create(schema=schema))


@pytest.mark.default_suite("test_can_clone_true")
class TestClonePossible(DropsSchemas, BaseClonePossible):
    pass


@pytest.mark.conformance
class TestCloneNotPossible(DropsSchemas, BaseCloneNotPossible):
    pass


@pytest.mark.conformance
class TestCloneSameTargetAndState(BaseCloneSameTargetAndState):
    pass


@pytest.mark.conformance
class TestCloneSameSourceAndTarget(Sparkish, BaseCloneSameSourceAndTarget):
    @pytest.fixture(scope="class")
    def models(self):
        return super().models()
