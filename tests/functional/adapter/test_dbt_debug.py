import os
import re

import pytest
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebugInvalidProjectPostgres, BaseDebugPostgres
from dbt.tests.util import run_dbt, run_dbt_and_capture
from dbt_common.exceptions import DbtRuntimeError


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


class TestUnwritableWarehouse:
    """A warehouse below a file, and one where nobody can make folders: root cannot write there either."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"one.sql": "{{ config(materialized='table') }} select 1 as id"}

    @pytest.fixture(scope="class")
    def blocked(self, tmp_path_factory):
        file = tmp_path_factory.mktemp("blocked") / "file"
        file.write_text("not a folder")
        return {"below_file": str(file / "warehouse"), "in_proc": "/proc/warehouse"}

    @pytest.fixture(scope="class")
    def profiles_config_update(self, dbt_profile_target, unique_schema, blocked):
        good = {**dbt_profile_target, "schema": unique_schema}
        outputs = {name: {**good, "warehouse": path} for name, path in blocked.items()}
        return {"test": {"outputs": {"default": good, **outputs}, "target": "default"}}

    @pytest.fixture(params=["below_file", "in_proc"])
    def target(self, request):
        if request.param == "in_proc" and not os.path.isdir("/proc/self"):
            pytest.skip("needs /proc")
        return request.param

    def test_debug_says_so(self, project, target, blocked):
        _, output = run_dbt_and_capture(["debug", "--target", target], expect_pass=False)
        where = f"The warehouse {blocked[target]} cannot be "
        assert where + {"below_file": "made", "in_proc": "written to"}[target] in output
        assert "All checks passed" not in output

    def test_a_run_says_so_too(self, project, target, blocked):
        with pytest.raises(DbtRuntimeError) as caught:
            run_dbt(["run", "--target", target])
        assert f"Storage failure at {blocked[target]}" in str(caught.value)
