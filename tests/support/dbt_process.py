"""dbt in a process of its own, in a folder of its own, as a user's terminal has it."""

from __future__ import annotations

import os
import subprocess
import sys

from support.repository import ROOT

# A shell lets its background jobs ignore Ctrl-C, and so do all processes that they start, unless these undo it.
_COMMAND = """
import signal, sys
from dbt.cli.main import cli
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(cli())
"""
DBT = (sys.executable, "-c", _COMMAND)


def environment(cache, packages=ROOT):
    """An environment without the settings of this process's user and Spark, and with an empty cache.

    `packages` is where Python looks first.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("DBT_", "SPARK_", "PYSPARK_", "TABLESTORE_"))
    }
    path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH")]))
    return {
        **kept,
        "PYTHONPATH": path,
        "XDG_CACHE_HOME": str(cache),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "COLUMNS": "200",
    }


def run_dbt_process(arguments, folder, cache, answers="", packages=ROOT):
    """Runs dbt to its end: exit code, and what came to stdout and stderr together. `answers` go to its prompts."""
    done = subprocess.run(
        [*DBT, "--no-use-colors", *arguments],
        cwd=folder,
        env=environment(cache, packages),
        input=answers,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout
