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


class TestClonePossible(DropsSchemas, BaseClonePossible):
    pass


class TestCloneNotPossible(DropsSchemas, BaseCloneNotPossible):
    pass


class TestCloneSameTargetAndState(BaseCloneSameTargetAndState):
    pass


class TestCloneSameSourceAndTarget(Sparkish, BaseCloneSameSourceAndTarget):
    @pytest.fixture(scope="class")
    def models(self):
        return super().models()
