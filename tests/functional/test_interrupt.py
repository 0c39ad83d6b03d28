"""Ctrl-C ends the Spark job and the process at once, also while Spark is still starting."""

from __future__ import annotations

import contextlib
import copy
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import yaml
from dbt.tests.util import write_file
from support.dbt_process import DBT, environment

from tablestore_engine.spark.session.java import find_java

# Runs for days. Its first row makes a file, which shows that a Spark task is running.
ENDLESS = """
{{ config(materialized='table') }}
select count(*) as n from range(100000000000000)
where id % 7 = hash(id)
  or (id = 0 and java_method('java.io.File', 'createTempFile', 'endless', '.running') is null)
"""
# A Java that says its version, and then takes forever to start.
STARTING = """#!/bin/sh
[ "$1" = -version ] && exec "{java}" -version
touch "{scratch}/java.started"
while [ -e "{scratch}" ] && [ ! -e "{scratch}/java.enough" ]; do sleep 0.1; done
exit 1
"""


def wait_for(what, condition, seconds=300):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} seconds"
        time.sleep(0.05)


def children_of(pid):
    """The processes that a process started; none where there is no /proc to ask."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [Path(f"/proc/{child}") for child in path.read_text().split()] if path.exists() else []


def waits(pid):
    """Whether the main thread of a process waits; true where there is no /proc to ask."""
    path = Path(f"/proc/{pid}/task/{pid}/stat")
    return not path.exists() or path.read_text().rpartition(") ")[2].startswith("S")


@pytest.mark.slow
class TestInterrupt:
    @pytest.fixture(scope="class")
    def models(self):
        return {"endless.sql": ENDLESS}

    @pytest.fixture
    def scratch(self, tmp_path):
        """Where Java makes its temporary files."""
        (tmp_path / "scratch").mkdir()
        return tmp_path / "scratch"

    @pytest.fixture
    def start(self, project, dbt_profile_data, scratch, tmp_path):
        """Starts `dbt run` and returns it when it has begun with the model."""
        profiles = copy.deepcopy(dbt_profile_data)
        for output in profiles["test"]["outputs"].values():
            output["class_data_sharing"] = False  # the JVM would write its archive before it ends
            output["spark_config"]["spark.driver.extraJavaOptions"] = f"-Djava.io.tmpdir={scratch}"
        write_file(yaml.safe_dump(profiles), project.project_root, "profiles.yml")
        log = os.path.join(project.project_root, "logs", "dbt.log")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(log)  # of the test before
        started = []

        def run(**environ):
            process = subprocess.Popen(
                [*DBT, "--no-use-colors", "run", "--profiles-dir", "."],
                cwd=project.project_root,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                env={**environment(tmp_path / "cache"), **environ},
            )
            started.append(process)
            for line in process.stdout:
                if "START sql table model" in line:
                    break
            process.log = log
            return process

        yield run
        for process in started:
            process.kill()
            process.wait()

    def interrupt(self, process):
        """Ctrl-C, and what holds then. The model would run for days: that dbt ends is what shows the interrupt.

        Python notices a signal when it runs code or is in a wait. Between both, when it has let another thread run and
        is about to wait, a signal is kept until the wait is over, which it never is here.
        """
        wait_for("a main thread that waits", lambda: waits(process.pid))
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=300)  # dbt waits for its workers
        assert process.returncode > 0, output  # by itself, not by the signal
        assert "CANCEL query model.test.endless" in output
        # The model's own thread came back from Spark, which it does only once its job is cancelled.
        assert "ERROR creating sql table model" in output
        assert "The statement was cancelled." in Path(process.log).read_text()
        assert "Py4J" not in output
        assert "org.apache.spark" not in output
        assert "adapters/tablestore" not in output  # dbt shows where Ctrl-C met itself; no stack of ours joins it

    def test_while_spark_starts(self, start, scratch, tmp_path):
        """Nobody waits for a start that is under way: here it would not end."""
        java = tmp_path / "java" / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text(STARTING.format(java=find_java(os.environ, None).executable, scratch=scratch))
        java.chmod(0o755)
        try:
            process = start(JAVA_HOME=str(tmp_path / "java"))
            wait_for("Java", (scratch / "java.started").exists)
            self.interrupt(process)
        finally:
            (scratch / "java.enough").touch()

    def test_while_a_job_runs(self, start, scratch):
        process = start()
        wait_for("the job", lambda: list(scratch.glob("endless*.running")))
        jvms = children_of(process.pid)
        assert process.poll() is None
        self.interrupt(process)
        wait_for("the end of the JVM", lambda: not any(jvm.exists() for jvm in jvms))
