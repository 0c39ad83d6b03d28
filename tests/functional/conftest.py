"""dbt's own test fixtures, with this adapter's profile. All tests of a process share one Spark session."""

from __future__ import annotations

import json
import os

import pytest
from dbt.adapters.factory import reset_adapters
from dbt.artifacts.schemas import base as artifacts
from dbt.cli.main import cli
from dbt.flags import get_flags
from dbt.parser import manifest as manifests
from dbt.parser.manifest import ManifestLoader
from dbt.task import runnable
from dbt.tests.fixtures.project import *  # noqa: F403  # fixtures that pytest finds here, all that dbt has
from dbt_common.behavior_flags import BehaviorFlagRendered
from dbt_common.utils.encoding import JSONEncoder
from support.spark_settings import FEW_ROWS


def write_json(path, data):
    """What dbt's own function writes, by Python's fast encoder instead of the slow one."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(data, cls=JSONEncoder))
    return True


# Commands that write manifest.json once parsed, and again when their nodes ran.
WRITING_TWICE = ("build", "compile", "run", "seed", "snapshot", "test")


@pytest.fixture(scope="session", autouse=True)
def quick_commands():
    """Spares the many commands of these tests what takes dbt long and is the same each time."""
    load_macros, known = ManifestLoader.load_macros, {}
    write_manifest = runnable.write_manifest  # which commands with nodes go on to use

    def load_once(config, hook, base_macros_only=False):
        """The macros of dbt and of the adapter, by which fixtures make and drop schemas."""
        if not base_macros_only:
            return load_macros(config, hook)
        if config.project_name not in known:
            known[config.project_name] = load_macros(config, hook, base_macros_only=True)
        return known[config.project_name]

    def write_once(manifest, target_path, which=None):
        if get_flags().WHICH not in WRITING_TWICE:
            write_manifest(manifest, target_path, which)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(artifacts, "write_json", write_json)
        patch.setattr(ManifestLoader, "load_macros", load_once)
        patch.setattr(manifests, "write_manifest", write_once)
        # Walks through the stack and all modules, to name the module that asks.
        patch.setattr(BehaviorFlagRendered, "_default_source", staticmethod(lambda: "dbt.adapters.base.impl"))
        # Each event of each thread, which nobody reads but tests of dbt as a process.
        for option in (one for command in (cli, *cli.commands.values()) for one in command.params):
            if option.name == "log_level_file":
                patch.setattr(option, "default", "none")
        yield


@pytest.fixture(scope="class", autouse=True)
def own_adapter():
    """Forgets the adapter that a command of an earlier test left, which may have another warehouse."""
    reset_adapters()


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
        # Spark plans each stage anew by the size of the last one: a seventh of the processor's time of statements like
        # these. The tests of statements, in tests/spark, leave it on.
        "spark_config": {**FEW_ROWS, "spark.sql.adaptive.enabled": "false"},
    }


@pytest.fixture(scope="class")
def dbt_profile_target(profile_target):
    return profile_target


def pytest_collection_modifyitems(items):
    for item in items:
        if "functional" in item.path.parts:
            item.add_marker(pytest.mark.spark)
            chosen = item.get_closest_marker("default_suite")
            if chosen and item.originalname not in chosen.args:
                item.add_marker(pytest.mark.conformance)
