"""The engine on a standalone cluster of two worker processes, and over Spark Connect: driver and executors are
apart."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pyspark
import pytest
from support.files import data_files, live_paths
from support.invariants import check_invariants
from support.spark_settings import FEW_ROWS

from tablestore_engine.catalog import Catalog
from tablestore_engine.spark.session.session_config import JAVA_OPTIONS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SPARK_HOME = os.path.dirname(pyspark.__file__)
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "session_script.py")
MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"


def outside_spark():
    """The environment without what another session of this process put there."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port, process, seconds=90):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None, process.log.read_text(errors="replace")[-3000:]
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens on {port}")


@pytest.fixture
def launch(tmp_path):
    """Starts one of Spark's programs; all are ended, with what they started, when the test ends."""
    started = []
    env = {
        **outside_spark(),
        "SPARK_HOME": SPARK_HOME,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "900m",
        "SPARK_LOCAL_DIRS": str(tmp_path / "scratch"),
        "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYSPARK_PYTHON": sys.executable,
    }

    def start(program, *arguments):
        path = tmp_path / f"log-{len(started)}"
        log = open(path, "wb")  # noqa: SIM115 - the process writes to it
        command = [os.path.join(SPARK_HOME, "bin", program), *map(str, arguments)]
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=env, cwd=tmp_path, start_new_session=True
        )
        log.close()
        process.log = path
        started.append(process)
        return process

    yield start
    for process in reversed(started):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    for process in started:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def run_application(warehouse, url, tmp_path, script=SCRIPT):
    done = subprocess.run(  # noqa: PLW1510 - the return code is checked below
        [sys.executable, script, str(warehouse), url],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
        env={
            **outside_spark(),
            "PYSPARK_PYTHON": sys.executable,
        },  # the workers' interpreter has the engine, too
    )
    logs = "".join(p.read_text(errors="replace")[-3000:] for p in tmp_path.glob("log-*"))
    assert done.returncode == 0, done.stderr[-4000:] + logs
    return json.loads(done.stdout.splitlines()[-1])


def check(answers, warehouse):
    assert answers["created"] == 20_000
    assert answers["counted"] == [[20_000, 20_000, 19_999]]
    assert (answers["upserted"], answers["deleted"], answers["merged"]) == (2_000, 500, 2)
    # 18,500 old rows are left, of which one became 7; 2,000 rows of 5; and one that a delete had removed came as 9.
    changed = [[20_501, 18_499 + 7 + 10_000 + 9, 20_999]]
    assert answers["changed"] == changed
    assert answers["compacted"] == changed
    assert answers["pinned"] == 20_000, "a frame stays on its snapshot"
    assert answers["files"] == 4
    assert answers["point"] == [["new", 5]]
    assert answers["view"] == [[1, 18_499], [5, 2_000], [7, 1], [9, 1]]
    assert "null value" in answers["null"]
    assert "own words" in answers["failed"]
    table = Catalog(warehouse).load_table("default", "t")
    check_invariants(table)
    assert live_paths(table) < data_files(table)
    assert table.latest_snapshot().commit_kind == "COMPACT"
    assert table.to_arrow(["id"]).num_rows == 20_501


def test_two_workers(launch, tmp_path):
    port = free_port()
    master = launch("spark-class", MASTER, "--host", "127.0.0.1", "--port", port, "--webui-port", 0)
    wait_for(port, master)
    url = f"spark://127.0.0.1:{port}"
    for number in range(2):
        folder = tmp_path / f"worker-{number}"
        launch("spark-class", WORKER, "-h", "127.0.0.1", "-c", 1, "-m", "1g", "--webui-port", 0, "-d", folder, url)
    check(run_application(tmp_path / "warehouse", url, tmp_path), tmp_path / "warehouse")
    executors = [d for n in range(2) for d in (tmp_path / f"worker-{n}").glob("app-*/*")]
    assert len(executors) == 2, "both workers ran an executor"


@pytest.fixture
def connect(launch, tmp_path):
    """Starts a Spark Connect server, with some settings; its address."""
    pytest.importorskip("grpc")

    def start(given):
        port = free_port()
        settings = {
            "spark.connect.grpc.binding.port": port,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": 2,
            "spark.sql.warehouse.dir": tmp_path / "unused",
            "spark.sql.artifact.isolation.enabled": "false",
            **given,
        }
        confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        wait_for(port, launch("spark-submit", "--class", CONNECT, "--master", "local[2]", *confs))
        return f"sc://127.0.0.1:{port}"

    return start


def test_spark_connect(connect, tmp_path):
    answers = run_application(tmp_path / "warehouse", connect({}), tmp_path)
    check(answers, tmp_path / "warehouse")
    assert answers["streamed"] == [[[1, 2], 0], [[2], 1]]


def test_broken_files_over_spark_connect(connect, tmp_path):
    """Files that are damaged or missing are named in one message, in what Spark's server says, too."""
    script = os.path.join(os.path.dirname(SCRIPT), "damaged_script.py")
    answers = run_application(tmp_path / "warehouse", connect({}), tmp_path, script)
    assert answers["bad"] == []
    assert answers["tried"] > 100
    assert answers["copied"] == 0, "nothing was written of a table with a broken file"


# Materializations, seeds, snapshots, tests, upserts and a model in Python, and the message of a model that fails.
OVER_CONNECT = (
    "adapter/test_basic.py",
    "adapter/test_upsert_path.py",
    "adapter/test_python_model.py::TestPythonModel",
    "test_damaged_tables.py",
)


def test_dbt_over_spark_connect(connect, tmp_path):
    url = connect({**FEW_ROWS, JAVA_OPTIONS: f"-XX:+UseSerialGC {FEW_ROWS[JAVA_OPTIONS]}"})
    functional = os.path.join(os.path.dirname(os.path.dirname(SCRIPT)), "functional")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not soak",
         "--basetemp", str(tmp_path / "dbt"),
         *(os.path.join(functional, name) for name in OVER_CONNECT)],
        capture_output=True, text=True, timeout=600, check=False, cwd=os.path.dirname(os.path.dirname(functional)),
        env={**outside_spark(), "PYSPARK_PYTHON": sys.executable, "TABLESTORE_REMOTE": url},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:]
    assert " passed" in done.stdout
