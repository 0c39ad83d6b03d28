"""Starting real sessions, each in a process of its own, as a user's terminal sees them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from support.repository import ROOT

pytestmark = pytest.mark.slow

SMALL = '"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"'


@pytest.fixture
def folder(tmp_path):
    """An empty folder to work in and, elsewhere, an empty cache."""
    (tmp_path / "cwd").mkdir()
    (tmp_path / "cache").mkdir()
    return tmp_path


def start(folder, script, **environ):
    """Starts Python on a script, in a group of its own like a job of a shell."""
    prelude = (
        "import os, signal, sys, time\n"
        # A shell lets its background jobs ignore Ctrl-C, and so do all processes that they start.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from tablestore_engine.spark.session.session import *\n"
        f"def config(**more): return SessionConfig(master='local[2]', spark_config={{{SMALL}, **more}},"
        " class_data_sharing=False)\n"
    )
    known = {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-c", prelude + textwrap.dedent(script)],
        cwd=folder / "cwd",
        env={**os.environ, **known, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(folder, script, **environ):
    """Runs a script to its end: exit code, what it printed, what else came to the terminal."""
    process = start(folder, script, **environ)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def log_of(folder):
    return "".join(path.read_text() for path in (folder / "cache" / "dbt-tablestore" / "logs").iterdir())


def wait_for(condition):
    """Waits for what comes within seconds, or not at all."""
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.spark
def test_a_session_leaves_nothing_in_terminal_and_folder(folder):
    code, out, err = run(
        folder,
        """
        future = start_in_background(config())
        root = future.result()
        child = new_session(root)
        root.range(3).createOrReplaceTempView("mine")
        print(child.catalog.tableExists("mine"), root.catalog.tableExists("mine"))
        print(child.range(3).mapInArrow(lambda batches: batches, "id long").count())
        child.sql("create table somewhere using parquet as select 1 as a")
        try:
            child.sql("select nothing from nowhere")
        except Exception as error:
            print(type(error).__name__)
        print(start_session(config(**{"spark.sql.shuffle.partitions": "3"})) is root,
        root.conf.get("spark.sql.shuffle.partitions")) """,
    )
    assert (code, err) == (0, "")
    assert out.splitlines() == ["False True", "3", "AnalysisException", "True 3"]
    assert os.listdir(folder / "cwd") == []
    assert "incubator" in log_of(folder)


@pytest.mark.spark
def test_a_damaged_archive_breaks_nothing(folder):
    garbage = folder / "garbage.jsa"
    garbage.write_bytes(os.urandom(100_000))
    code, out, err = run(
        folder,
        f"""
        from tablestore_engine.spark.session import session_archive
        from tablestore_engine.spark.session import session_classic
        options = ("-Xshare:auto", "-XX:SharedArchiveFile={garbage}")
        session_classic.archive_use = lambda *args: session_archive.ArchiveUse(options, archive="{garbage}")
        spark = start_session(SessionConfig(master="local[1]", spark_config={{{SMALL}}}))
        print(spark.sql("select 1 as a").collect())
        """,
    )
    assert (code, out, err) == (0, "[Row(a=1)]\n", "")


@pytest.mark.spark
def test_ctrl_c_interrupts_and_the_jvm_follows(folder):
    process = start(
        folder,
        f"""
        from tablestore_engine.store import TableStore
        spark = start_in_background(config(**{{"spark.driver.extraJavaOptions": "-Djava.io.tmpdir={folder}"}})).result()
        made = "java_method('java.io.File', 'createTempFile', 'endless', '.running')"  # by the first row of the job
        frame = TableStore("warehouse", spark).sql("select id from range(10000000000000)")
        try:
            frame.where(f"id > 0 or {{made}} is null").selectExpr("sum(hash(id))").collect()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """,
    )
    wait_for(lambda: list(folder.glob("endless*.running")) or process.poll() is not None)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    jvms = [int(pid) for pid in children.read_text().split()] if children.exists() else []
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (out, err) == ("interrupted\n", "")
    wait_for(lambda: not any(map(is_alive, jvms)))


@pytest.mark.spark
def test_the_second_start_uses_what_the_first_left(folder):
    """The first JVM ends before Spark starts in it, so that it has few classes to leave."""
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("needs /proc to see what a process has mapped")
    known = textwrap.dedent("""
        config = SessionConfig(master="local[1]", spark_config={"spark.driver.memory": "1g"})
        def uses_an_archive():
            jvm = open(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read().split()[0]
            return any(".jsa" in line and "dbt-tablestore" in line for line in open(f"/proc/{jvm}/maps"))
    """)
    first = """
        from tablestore_engine.spark.session import session_classic
        session_classic._build = lambda settings, gateway: gateway
        start_session(config)
        print(uses_an_archive())
    """
    classes = folder / "cache" / "dbt-tablestore" / "classes"
    assert run(folder, known + textwrap.dedent(first)) == (0, "False\n", "")
    assert [path.suffix for path in classes.iterdir() if path.suffix == ".claim"]  # Python did not wait for it
    wait_for(lambda: list(classes.glob("*.jsa")))
    second = "print(start_session(config).sql('select 1 as a').collect(), uses_an_archive())"
    assert run(folder, known + second) == (0, "[Row(a=1)] True\n", "")


def test_no_java_is_one_clear_message(folder):
    code, out, err = run(
        folder,
        """
        try:
            start_session(config())
        except Exception as error:
            print(type(error).__name__, error)
        """,
        JAVA_HOME="/nowhere",
    )
    assert (code, err) == (0, "")
    assert out.startswith("JavaNotFoundError JAVA_HOME is /nowhere, but there is no executable bin/java in it.")


def test_a_jvm_that_does_not_start_is_one_clear_message(folder):
    code, out, err = run(
        folder,
        """
        try:
            start_session(config(**{"spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:+UseG1GC"}))
        except Exception as error:
            print(type(error).__name__, error)
        """,
    )
    assert (code, err) == (0, "")
    assert out.startswith("EnvironmentProblem Spark's JVM did not start: Error occurred during initialization of VM")
    assert "Its log: " in out
    assert len(out.splitlines()) == 1


def test_connect_without_its_packages_is_one_clear_message(folder):
    code, out, err = run(
        folder,
        """
        sys.modules["grpc"] = None
        try:
            start_session(SessionConfig(remote="sc://localhost:15002"))
        except Exception as error:
            print(type(error).__name__, error)
        """,
    )
    assert (code, err) == (0, "")
    assert "needs packages that are not installed, or cannot be imported: grpc." in out
    assert "pip install 'dbt-tablestore[connect]'" in out
