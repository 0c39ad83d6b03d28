"""`python -m benchmarks.peers`: every engine in processes of its own, one after another, and the table of all.

Figures are kept in a file of the folder of environments, so that engines can be measured in several calls; `--write`
puts the table of what is there into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks.data import lineitem
from benchmarks.peers.engines import ENGINES, OURS, Engine, engine_of
from benchmarks.peers.environments import environment_of, require_maven
from benchmarks.peers.table import table_of, write_table

REPOSITORY = Path(__file__).resolve().parents[2]
STATES = ("cold", "warm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of lineitem (default 1)")
    parser.add_argument("--engines", default=",".join(one.name for one in ENGINES), help="some of them, by name")
    parser.add_argument("--states", default=",".join(STATES), help="cold, warm or both")
    parser.add_argument("--folder", type=Path, default=REPOSITORY / ".venv-peers", help="environments and figures")
    parser.add_argument("--data", type=Path, default=Path("~/.cache/dbt-tablestore/benchmarks").expanduser())
    parser.add_argument("--timeout", type=int, default=1800, help="seconds of one process")
    parser.add_argument("--install", action="store_true", help="make environments and data only")
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    given = parser.parse_args()
    figures = given.folder.resolve() / f"figures-sf{given.scale:g}.json"
    engines = [engine_of(name) for name in filter(None, given.engines.split(","))]
    require_maven(engines, given.folder.resolve())
    _prepare(given)
    for engine in engines:
        environment_of(engine, given.folder.resolve())
        for state in () if given.install else given.states.split(","):
            _keep(figures, engine.name, state, _measured(given, engine, state))
    if figures.exists():
        found = json.loads(figures.read_text())
        lines = table_of(found, given.scale)
        print("\n".join(lines))
        if given.write:
            write_table(lines)


def _prepare(given: argparse.Namespace) -> None:
    lineitem(given.data, given.scale)
    if not (given.data / f"peers-{given.scale:g}-warm" / "done").exists():
        failure = _run(given, engine_of(OURS), "prepare")
        if failure is not None:
            raise SystemExit(f"The rows were not made: {failure}")


def _measured(given: argparse.Namespace, engine: Engine, state: str) -> dict[str, Any]:
    """The figures of one process, as far as it came, and why it came no further."""
    out = given.folder.resolve() / "out.json"
    out.unlink(missing_ok=True)
    failure = _run(given, engine, state)
    found: dict[str, Any] = json.loads(out.read_text()) if out.exists() else {"figures": {}, "step": "start"}
    found["at"] = f"{datetime.now(timezone.utc):%Y-%m-%d}"
    if failure is not None:
        found["failed"] = f"failed in {found['step']!r}: {failure}"
    steps = ", ".join(f"{step} {value:.2f}" for step, value in found["figures"].items() if " after " not in step)
    print(f"{engine.name}, {state}: {steps} {found.get('failed', '')}", flush=True)
    return found


def _run(given: argparse.Namespace, engine: Engine, state: str) -> str | None:
    folder = given.folder.resolve()
    environment = environment_of(engine, folder)
    arguments = {
        "--state": state, "--scale": given.scale, "--data": given.data, "--work": folder / "work",
        "--jars": environment.jars, "--out": folder / "out.json",
    }  # fmt: skip
    words = [str(one) for pair in arguments.items() for one in pair]
    command = [environment.python, "-m", "benchmarks.peers.workload", engine.name, *words]
    variables = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    variables.pop("SPARK_HOME", None)
    try:
        done = subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=given.timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return f"not done in {given.timeout} s"
    if not done.returncode:
        return None
    (folder / f"{engine.name}.log").write_text(done.stdout + done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.strip() and not line.startswith(("\t", " "))]
    return lines[-1][:200] if lines else f"exit {done.returncode}"


def _keep(figures: Path, name: str, state: str, found: dict[str, Any]) -> None:
    kept = json.loads(figures.read_text()) if figures.exists() else {}
    kept.setdefault(name, {})[state] = found
    figures.write_text(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
