"""dbt's own test fixtures, with this adapter's profile. All tests of a process share one Spark session."""

from __future__ import annotations

import os

import pytest
from dbt.tests.fixtures.project import *
from support.spark_settings import FEW_ROWS


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory):
    return str(tmp_path_factory.mktemp("warehouse"))


@pytest.fixture(scope="class")
def profile_target(warehouse):
    remote, shared = os.environ.get("TABLESTORE_REMOTE"), os.environ.get("TABLESTORE_SHARED")  # set by tests/cluster
    where = {"remote": remote} if remote else {"master": "local[2]", "session": "shared" if shared else "own"}
    return {
        "type": "tablestore",
        "warehouse": warehouse,
        "threads": 4,
        "user": "dbt",
        **where,
        "spark_config": dict(FEW_ROWS),
    }


@pytest.fixture(scope="class")
def dbt_profile_target(profile_target):
    return profile_target


def pytest_collection_modifyitems(items):
    for item in items:
        if "functional" in item.path.parts:
            item.add_marker(pytest.mark.spark)
