import pytest
from dbt.tests.adapter.caching.test_caching import (
    BaseCachingLowercaseModel,
    BaseCachingSelectedSchemaOnly,
    BaseCachingTest,
    BaseCachingUppercaseModel,
    BaseNoPopulateCache,
)
from dbt.tests.util import run_dbt


class WithoutDatabase(BaseCachingTest):
    """The same inspection, without the database that relations do not have here."""

    def run_and_inspect_cache(self, project, run_args=None):
        run_dbt(run_args)
        cache = project.adapter.cache
        assert len(cache.relations) == 1
        first = next(iter(cache.relations))
        assert first.schema == project.test_schema.lower()
        run_dbt(run_args)
        assert len(cache.relations) == 1
        second = next(iter(cache.relations))
        assert first.database is None
        assert second.database is None
        assert first.schema.lower() == second.schema.lower()
        assert first.identifier.lower() == second.identifier.lower()


@pytest.mark.conformance
class TestCachingLowercaseModel(WithoutDatabase, BaseCachingLowercaseModel):
    pass


class TestCachingUppercaseModel(WithoutDatabase, BaseCachingUppercaseModel):
    pass


@pytest.mark.conformance
class TestCachingSelectedSchemaOnly(WithoutDatabase, BaseCachingSelectedSchemaOnly):
    pass


class TestNoPopulateCache(WithoutDatabase, BaseNoPopulateCache):
    pass
