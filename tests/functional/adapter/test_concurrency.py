import pytest
from dbt.tests.adapter.concurrency.test_concurrency import BaseConcurrency


@pytest.mark.conformance
class TestConcurrency(BaseConcurrency):
    pass
