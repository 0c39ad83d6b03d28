import re

import pytest
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebugInvalidProjectPostgres, BaseDebugPostgres
from dbt.tests.util import run_dbt


class TestDebug(BaseDebugPostgres):
    """`nopass` and `wronguser` are outputs that cannot work: no warehouse, and one that cannot be written."""

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target, unique_schema, tmp_path_factory):
        blocked = tmp_path_factory.mktemp("blocked") / "file"
        blocked.write_text("not a folder")
        good = {**dbt_profile_target, "schema": unique_schema}
        return {
            "test": {
                "outputs": {
                    "default": good,
                    "nopass": {"type": "tablestore", "schema": "x"},
                    "wronguser": {"type": "tablestore", "schema": "x", "warehouse": str(blocked)},
                    "none_target": None,
                },
                "target": "default",
            }
        }

    def test_nopass(self, project):
        run_dbt(["debug", "--target", "nopass"], expect_pass=False)
        self.assertGotValue(re.compile(r"\s+profiles\.yml file"), "ERROR invalid")


class TestDebugInvalidProject(BaseDebugInvalidProjectPostgres):
    pass
