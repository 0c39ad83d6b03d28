"""`session: shared`: processes and projects find one Spark server, which wants its token."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from support.dbt_process import DBT, environment

from tablestore_engine.catalog import Catalog
from tablestore_engine.spark.session.server_client import living_servers, stop_server

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HERE = os.path.dirname(os.path.abspath(__file__))
PROFILE = {
    "type": "tablestore",
    "schema": "dev",
    "threads": 2,
    "master": "local[2]",
    "session": "shared",
    "spark_config": {"spark.sql.shuffle.partitions": 2, "spark.driver.memory": "1500m"},
}
UPSERTED = "{{ config(materialized='incremental', unique_key='id') }} select id, id * 2 as v from range(1000)"


class Project:
    """A dbt project, whose commands run in processes of their own."""

    def __init__(self, folder, cache, models, **profile):
        self.folder, self.cache = folder, cache
        (folder / "models").mkdir(parents=True)
        for name, text in models.items():
            (folder / "models" / name).write_text(text)
        (folder / "dbt_project.yml").write_text("name: p\nprofile: p\n")
        outputs = {"dev": {**PROFILE, "warehouse": str(folder / "warehouse"), **profile}}
        (folder / "profiles.yml").write_text(yaml.safe_dump({"p": {"target": "dev", "outputs": outputs}}))
        self.warehouse = outputs["dev"]["warehouse"]

    def start(self, *arguments):
        return subprocess.Popen(
            [*DBT, "--no-use-colors", *arguments], cwd=self.folder, env=environment(self.cache),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def run(self, *arguments):
        return self.ended(self.start(*arguments))

    def ended(self, process):
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output + self.logs()
        return output

    def logs(self):
        logs = sorted((self.cache / "dbt-tablestore" / "logs").iterdir())
        return "".join(f"\n== {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in logs)

    def servers(self):
        return living_servers(str(self.cache / "dbt-tablestore"), self.warehouse)

    def rows(self, table):
        return Catalog(self.warehouse).load_table("dev", table).to_arrow(["id"]).num_rows


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache folder, whose servers are ended."""
    folder = tmp_path_factory.mktemp("cache")
    yield folder
    for server in living_servers(str(folder / "dbt-tablestore")):
        stop_server(server, force=True)


@pytest.fixture
def project(cache, tmp_path):
    return Project(
        tmp_path / "one", cache, {"upserted.sql": UPSERTED, "seen.sql": "select * from {{ ref('upserted') }}"}
    )


def test_processes_and_projects_share_one_server(project, cache, tmp_path):
    project.run("run")
    (first,) = project.servers()
    assert not first.in_use, "dbt has ended"
    other = Project(
        tmp_path / "two", cache, {"mine.sql": MINE, "s.yml": SOURCE},
        warehouse=project.warehouse, schema="prod",
    )  # fmt: skip
    both = [project.start("build"), other.start("run")]
    for process in both:
        project.ended(process)
    assert [one.record.pid for one in project.servers()] == [first.record.pid]
    assert project.rows("upserted") == 1000
    assert Catalog(project.warehouse).load_table("prod", "mine").to_arrow(["id"]).num_rows == 1000
    command = [sys.executable, "-m", "tablestore_engine.cli", "sql", "-w", project.warehouse, "--session", "shared"]
    shown = subprocess.run(
        [*command, "select count(*) as n from dev.seen"], capture_output=True, text=True, check=True, timeout=120,
        env={**environment(cache), "http_proxy": "http://127.0.0.1:9"},  # where nobody listens, and the server is not
    )  # fmt: skip
    assert "1000" in shown.stdout
    assert [one.record.pid for one in project.servers()] == [first.record.pid]
    refused = subprocess.run(
        [sys.executable, "-c", WITHOUT_TOKEN, str(first.record.port)], env=environment(cache), capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip
    assert refused.returncode != 0
    assert "authentication token" in refused.stderr


def test_clients_leave_no_rows_and_views_to_later_ones(project):
    """Spark knows the cached rows of a folder by its path, whatever its files are."""
    folder = project.folder / "numbers"
    command = [sys.executable, "-m", "tablestore_engine.cli", "sql", "-w", project.warehouse, "--session", "shared"]
    for number in (4711, 8122):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        pq.write_table(pa.table({"n": [number]}), folder / f"{number}.parquet")
        script = (
            f"create schema if not exists dev; create global temporary view n as select * from parquet.`{folder}`; "
            "cache table global_temp.n; select n from global_temp.n"
        )
        shown = subprocess.run(
            [*command, script], env=environment(project.cache), capture_output=True, text=True, check=False, timeout=300
        )
        assert (shown.returncode, str(number) in shown.stdout) == (0, True), shown.stdout + shown.stderr
        deadline = time.monotonic() + 60
        while any(one.in_use for one in project.servers()) and time.monotonic() < deadline:
            time.sleep(0.5)
        time.sleep(5)  # the server looks each second


MINE = "{{ config(materialized='table') }} select * from {{ source('dev', 'upserted') }}"
SOURCE = "{version: 2, sources: [{name: dev, tables: [{name: upserted}]}]}"
WITHOUT_TOKEN = """
import sys
from pyspark.sql import SparkSession
SparkSession.builder.remote(f"sc://localhost:{sys.argv[1]}").create().sql("select 1").collect()
"""


def test_a_statement_on_a_server_that_is_stopped_says_so(project):
    project.run("run", "--select", "upserted")
    command = [sys.executable, "-m", "tablestore_engine.cli", "sql", "-w", project.warehouse, "--session", "shared"]
    long = "select count(*) from range(3000000) a join range(200000) b on a.id % 7 = b.id % 7"
    client = subprocess.Popen(
        [*command, f"insert into dev.upserted select 1, count(*) from ({long})"], env=environment(project.cache),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    time.sleep(15)
    (server,) = project.servers()
    assert server.in_use
    stop_server(server, force=True)
    output = client.communicate(timeout=120)[0]
    assert client.returncode != 0
    assert output.startswith("Error: ") and len(output.splitlines()) == 1, output
    assert "The shared Spark server has ended, or was stopped, while the statement ran. Run the statement" in output
    assert project.rows("upserted") == 1000


# Materializations, seeds, a snapshot and a model in Python: what depends on the server's settings. The client is that
# of Spark Connect, where `test_cluster.py` runs more.
OVER_SHARED = (
    "adapter/test_basic.py::TestSimpleMaterializations",
    "adapter/test_basic.py::TestSnapshotTimestamp",
    "adapter/test_python_model.py::TestPythonModel",
    "adapter/test_simple_seed.py::TestEmptySeed",
)


def test_dbt_s_tests_in_a_shared_session(cache, tmp_path):
    functional = os.path.join(os.path.dirname(HERE), "functional")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not soak",
         "--basetemp", str(tmp_path / "dbt"),
         *(os.path.join(functional, name) for name in OVER_SHARED)],
        capture_output=True, text=True, timeout=600, check=False, cwd=os.path.dirname(os.path.dirname(functional)),
        env={**environment(cache), "TABLESTORE_SHARED": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
