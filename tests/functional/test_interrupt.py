"""Ctrl-C ends the Spark job and the process at once, also while Spark is still starting."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
import yaml
from dbt.tests.util import write_file

ENDLESS = "{{ config(materialized='table') }} select count(*) as n from range(100000000000000) where id % 7 = hash(id)"


@pytest.mark.slow
class TestInterrupt:
    @pytest.fixture(scope="class")
    def models(self):
        return {"endless.sql": ENDLESS}

    @pytest.mark.parametrize("seconds", [0.2, 30])
    def test_the_process_ends(self, project, dbt_profile_data, seconds):
        write_file(yaml.safe_dump(dbt_profile_data), project.project_root, "profiles.yml")
        process = subprocess.Popen(
            [sys.executable, "-m", "dbt.cli.main", "--no-use-colors", "run", "--profiles-dir", "."],
            cwd=project.project_root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ,
        )
        try:
            for line in process.stdout:
                if "START sql table model" in line:
                    break
            time.sleep(seconds)
            told = time.monotonic()
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=60)
        finally:
            process.kill()
        assert time.monotonic() - told < 20
        assert process.returncode not in (0, None)
        assert "CANCEL query model.test.endless" in output
        assert "Py4J" not in output
        assert "org.apache.spark" not in output
