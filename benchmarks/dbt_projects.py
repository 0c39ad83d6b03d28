"""Whole dbt processes: 100 small tables, and a model over deep views, compared with dbt-spark's session method; 2
trivial models compared with bare Spark, and with a shared server.

Both adapters run the same project, each in its own folder and with its own profile, as separate processes.

    python -m benchmarks.dbt_projects [--only run,build,deep,two] [--models 100] [--runs 2]
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import Report, alternating

ADAPTERS = ("tablestore", "spark")
_MORE = ("v4", "v2", "base", "base", "base")  # 15 + 3 joins inside, next to 127 in v7, and 5 of them
DBT = Path(sys.executable).with_name("dbt")
BARE = "from pyspark.sql import SparkSession; SparkSession.builder.getOrCreate().sql('select 1').collect()"


PARTS = ("run", "build", "deep", "two")


def run(
    report: Report, work: Path, *, small: bool, models: int = 100, runs: int = 2, only: Sequence[str] = PARTS
) -> None:
    """Add the comparisons to the report."""
    models = 3 if small else models  # one of each kind
    ours, theirs = (_project(work / adapter, adapter, models) for adapter in ADAPTERS)
    for verb, often in (("run", runs), ("build", runs - 1)):
        if verb in only:
            mine, base = alternating(lambda v=verb: _dbt(ours, v), lambda v=verb: _dbt(theirs, v), often)
            what = "" if verb == "run" else ", 2 tests each,"
            report.add(f"dbt {verb} of {models} small models{what} ÷ dbt-spark session (Parquet)", mine, base, 0.3)
    if "deep" in only:
        levels = 2 if small else 7
        ours, theirs = (_deep_views(work / f"deep-{adapter}", adapter, levels) for adapter in ADAPTERS)
        mine, base = alternating(lambda: _dbt(ours), lambda: _dbt(theirs), 1)
        report.add("a model over 8 levels of views with 150 joins ÷ dbt-spark session", mine, base, 0.8)
    if "two" in only:
        _two_models(report, work, runs)


def _two_models(report: Report, work: Path, runs: int) -> None:
    two = _project(work / "two", "tablestore", 2)
    bare = work / "bare"
    bare.mkdir()
    mine, base = alternating(lambda: _dbt(two), lambda: _bare(bare), runs + 1)
    report.add("dbt run of 2 trivial models ÷ bare SparkSession + select 1", mine, base, 1.0)
    shared = _project(work / "shared", "tablestore", 2, "\n      session: shared")
    try:
        mine, base = alternating(lambda: _dbt(shared), lambda: _dbt(two), runs)
    finally:
        stop = [str(DBT.with_name("tablestore")), "--warehouse", f"{shared}/warehouse", "server", "stop"]
        subprocess.run(stop, capture_output=True, check=False)
    report.add("dbt run of 2 trivial models with a shared server ÷ in process", mine, base, 0.5)


def _project(folder: Path, adapter: str, models: int, more: str = "") -> Path:
    _begin(folder, adapter, more)
    tests = []
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
        tests.append(f"  - name: m{number}\n    columns:\n      - {{name: id, data_tests: [not_null]}}\n")
        tests.append("      - {name: amount, data_tests: [not_null]}\n")
    (folder / "models" / "tests.yml").write_text("version: 2\nmodels:\n" + "".join(tests))
    return folder


def _deep_views(folder: Path, adapter: str, levels: int) -> Path:
    """Views that each join the one before with itself, and a table over them: 150 joins of 7 levels, all expanded."""
    _begin(folder, adapter)
    models = {"base": "select id, id as x from range(100)"}
    for level in range(1, levels + 1):
        below = "base" if level == 1 else f"v{level - 1}"
        models[f"v{level}"] = (
            "{{ config(materialized='view') }} select a.id, a.x + b.x as x "
            f"from {{{{ ref('{below}') }}}} a join {{{{ ref('{below}') }}}} b on a.id = b.id"
        )
    joined = [
        f"join {{{{ ref('{name}') }}}} j{at} on j{at}.id = a.id"
        for at, name in enumerate(one for one in _MORE if one in models)
    ]
    models["deep"] = f"select a.id, a.x + j0.x as x from {{{{ ref('v{levels}') }}}} a {' '.join(joined)}"
    for name, sql in models.items():
        (folder / "models" / f"{name}.sql").write_text(sql + "\n")
    return folder


def _begin(folder: Path, adapter: str, more: str = "") -> None:
    (folder / "models").mkdir(parents=True)
    profile = {
        "tablestore": f"type: tablestore\n      warehouse: {folder}/warehouse\n      schema: bench\n      threads: 4"
        + more,
        "spark": "type: spark\n      method: session\n      host: NA\n      schema: bench\n      threads: 4",
    }[adapter]
    (folder / "profiles.yml").write_text(f"bench:\n  target: dev\n  outputs:\n    dev:\n      {profile}\n")
    materialized = "table" if adapter == "tablestore" else "table\n    +file_format: parquet"
    (folder / "dbt_project.yml").write_text(
        "name: bench\nversion: '1.0'\nprofile: bench\nmodels:\n  bench:\n    +materialized: " + materialized + "\n"
    )


def _dbt(folder: Path, verb: str = "run") -> None:
    environment = {**os.environ, "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    command = [str(DBT), "--quiet", verb, "--project-dir", str(folder), "--profiles-dir", str(folder)]
    if not (folder / "warehouse").exists():
        # dbt-spark's tables live in the current folder; a run that finds them there replaces them.
        shutil.rmtree(folder / "target", ignore_errors=True)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def _bare(folder: Path) -> None:
    subprocess.run([sys.executable, "-c", BARE], cwd=folder, capture_output=True, check=True)


def main() -> None:
    """Print the figures alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        run(Report(), Path(work), small=False, models=given.models, runs=given.runs, only=given.only.split(","))


if __name__ == "__main__":
    main()
