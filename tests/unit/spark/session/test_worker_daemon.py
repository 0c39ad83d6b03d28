"""The daemon of Python workers imports what they need, and is PySpark's otherwise."""

from __future__ import annotations

import os
import subprocess
import sys

from tablestore_engine.spark.session import session_classic, worker_daemon
from tablestore_engine.spark.session.session_config import ENGINE

CHECK = """
import os, sys
from tablestore_engine.spark.session import worker_daemon
import pyspark.daemon
pyspark.daemon.manager = lambda: print("manages", "pandas" in sys.modules, "pyspark.worker" in sys.modules)
worker_daemon._OF_WORKERS += ("no_such_module",)
worker_daemon.main()
"""


def test_it_imports_and_then_manages_workers():
    path = os.pathsep.join([os.path.dirname(ENGINE), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", CHECK, "pyspark.worker"], env={**os.environ, "PYTHONPATH": path}, capture_output=True,
        text=True, check=True, timeout=120,
    )  # fmt: skip
    assert done.stdout == "manages True True\n", done.stderr


def test_modules_of_the_daemon_exist():
    for module in worker_daemon._OF_WORKERS[2:]:
        __import__(module)
    __import__(session_classic._WORKER_DAEMON)


def test_workers_look_where_they_did_and_find_the_engine(monkeypatch):
    engine = os.path.dirname(ENGINE)
    assert session_classic._path_of_workers({"PYTHONPATH": "/mine"}) == os.pathsep.join(["/mine", engine])
    assert session_classic._path_of_workers({}) == engine
    monkeypatch.setattr(session_classic.sysconfig, "get_path", lambda name: engine)
    assert session_classic._path_of_workers({"PYTHONPATH": "/mine"}) == "/mine"
