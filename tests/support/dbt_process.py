"""dbt in a process of its own, in a folder of its own, as a user's terminal has it."""

from __future__ import annotations

import os
import subprocess
import sys

from support.repository import ROOT

DBT = (sys.executable, "-c", "import sys; from dbt.cli.main import cli; sys.exit(cli())")


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
