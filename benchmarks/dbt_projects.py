"""Whole `dbt run` processes: 100 small tables compared with dbt-spark's session method, 2 trivial ones with bare Spark.

Both adapters run the same project, each in its own folder and with its own profile, as separate processes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Report, alternating

DBT = Path(sys.executable).with_name("dbt")
BARE = "from pyspark.sql import SparkSession; SparkSession.builder.getOrCreate().sql('select 1').collect()"


def run(report: Report, work: Path, *, small: bool) -> None:
    """Add both comparisons to the report."""
    models = 3 if small else 100  # one of each kind
    runs = 3
    ours = _project(work / "ours", "tablestore", models)
    theirs = _project(work / "theirs", "spark", models)
    mine, base = alternating(lambda: _dbt(ours), lambda: _dbt(theirs), runs)
    report.add(f"dbt run of {models} small models ÷ dbt-spark session (Parquet)", mine, base, 0.5)
    two = _project(work / "two", "tablestore", 2)
    bare = work / "bare"
    bare.mkdir()
    mine, base = alternating(lambda: _dbt(two), lambda: _bare(bare), runs + 2)
    report.add("dbt run of 2 trivial models ÷ bare SparkSession + select 1", mine, base, 1.0)


def _project(folder: Path, adapter: str, models: int) -> Path:
    (folder / "models").mkdir(parents=True)
    profile = {
        "tablestore": f"type: tablestore\n      warehouse: {folder}/warehouse\n      schema: bench\n      threads: 4",
        "spark": "type: spark\n      method: session\n      host: NA\n      schema: bench\n      threads: 4",
    }[adapter]
    (folder / "profiles.yml").write_text(f"bench:\n  target: dev\n  outputs:\n    dev:\n      {profile}\n")
    materialized = "table" if adapter == "tablestore" else "table\n    +file_format: parquet"
    (folder / "dbt_project.yml").write_text(
        "name: bench\nversion: '1.0'\nprofile: bench\nmodels:\n  bench:\n    +materialized: " + materialized + "\n"
    )
    for number in range(models):
        # Ten roots of 1,000 rows; the others each aggregate or filter one that came before.
        if number < max(1, models // 10):
            sql = f"select id, id % 7 as kind, cast(id * {number + 1} as double) as amount from range(1000)"
        elif number % 2:
            sql = (
                f"select kind, cast(count(*) as bigint) as id, sum(amount) as amount from "
                f"{{{{ ref('m{number // 10}') }}}} group by kind"
            )
        else:
            sql = f"select * from {{{{ ref('m{number // 10}') }}}} where kind <> {number % 7}"
        (folder / "models" / f"m{number}.sql").write_text(sql + "\n")
    return folder


def _dbt(folder: Path) -> None:
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    command = [str(DBT), "--quiet", "run", "--project-dir", str(folder), "--profiles-dir", str(folder)]
    if not (folder / "warehouse").exists():
        # dbt-spark's tables live in the current folder; a run that finds them there replaces them.
        shutil.rmtree(folder / "target", ignore_errors=True)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def _bare(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", BARE], cwd=folder, capture_output=True, check=True)
