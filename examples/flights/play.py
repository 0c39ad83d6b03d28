"""Plays the year 2013 through the dbt project next to this file: `make demo`.

Each delivery is put into a landing folder and built by dbt, as an orchestrator would do it; all in one process, so
Spark starts once. Afterwards queries on the tables are compared with answers computed from the raw data.
The exit code is 0 only if every build passed and every answer was right.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import deliveries
import pyarrow as pa
import pyarrow.compute as pc
from answers import answers
from screen import Building, Played, Screen

PROJECT = os.path.dirname(os.path.abspath(__file__))
MARKER = ".made-by-the-flights-demo"
CHANGED_HANDS = """
    select tail_number, carrier, dbt_valid_from from aircraft_operators
    where tail_number in (select tail_number from aircraft_operators where dbt_valid_to is not null) order by 1, 3
"""
FOG = """
    select visibility < 1 as fog, round(count(carrier) / count(distinct origin, observed_at), 1) as held_up_an_hour
    from weather_and_delays group by 1 order by 1
"""


@dataclass(frozen=True)
class Stage:
    """The folder of one play and the paths in it."""

    folder: str

    @property
    def warehouse(self) -> str:
        return os.path.join(self.folder, "warehouse")

    @property
    def landing(self) -> str:
        return os.path.join(self.folder, "landing")

    @property
    def target(self) -> str:
        return os.path.join(self.folder, "dbt")

    @property
    def logs(self) -> str:
        return os.path.join(self.folder, "logs")

    def clear(self) -> None:
        """Start from nothing. Only a folder that an earlier play made, or an empty one, is emptied."""
        if os.path.isdir(self.folder) and os.listdir(self.folder):
            if not os.path.exists(os.path.join(self.folder, MARKER)):
                raise SystemExit(f"{self.folder} holds something else; choose another --folder.")
            shutil.rmtree(self.folder)
        os.makedirs(self.landing)
        with open(os.path.join(self.folder, MARKER), "w", encoding="utf-8"):
            pass


class DbtFailed(Exception):
    """A build that did not pass; the arguments are dbt's messages."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Play a year of flights through dbt.")
    parser.add_argument("--folder", default="target/demo", help="where tables, landing files and logs go")
    stage = Stage(os.path.abspath(parser.parse_args().folder))
    stage.clear()
    os.environ["FLIGHTS_WAREHOUSE"] = stage.warehouse

    screen = Screen()
    began = time.monotonic()
    year = deliveries.published_year()
    plan = deliveries.plan()
    weather = deliveries.published_weather()
    deliveries.land_planes(stage.landing, deliveries.published_planes())
    screen.opening(year.num_rows, len(plan))

    history: list[Played] = []
    for delivery, expected in zip(plan, deliveries.expected_sizes(year, plan), strict=True):
        reports = delivery.reports(year)
        deliveries.land(stage.landing, delivery, reports)
        deliveries.land_weather(stage.landing, delivery, weather)
        try:
            with screen.building(delivery.title) as building:
                seconds, results = _build(stage, delivery.name, building, first=not history)
        except DbtFailed as failed:
            screen.failure(delivery.title, failed.args, os.path.join(stage.logs, "dbt.log"))
            return 1
        size = _ask(stage, "select count(*) as n from flights")["n"][0].as_py()
        history.append(
            Played(
                title=delivery.title,
                rows=_by_kind(reports),
                changed=_rows_affected(results, "model.nyc_flights.flights"),
                size=size,
                expected_size=expected,
                nodes=len(results),
                seconds=seconds,
            )
        )
        screen.delivered(history[-1])

    screen.chart(history)
    found = list(answers(lambda query: _ask(stage, query), deliveries.not_cancelled(year), weather))
    screen.answers(found)
    screen.closing(_what_next(stage), time.monotonic() - began)
    right = all(one.right for one in found) and all(one.size == one.expected_size for one in history)
    return 0 if right else 1


def _build(stage: Stage, delivery: str, building: Building, *, first: bool) -> tuple[float, list[Any]]:
    """One `dbt build` of what the delivery changes; the first one builds everything.

    Returns its seconds and dbt's results, one per node. Raises DbtFailed with dbt's messages.
    """
    from dbt.cli.main import dbtRunner

    def listen(event: Any) -> None:
        if event.info.name == "LogStartLine":
            building.started(event.data.description.removeprefix("sql "), event.data.total)
        elif event.info.name == "NodeFinished":
            building.finished()

    os.environ["FLIGHTS_DELIVERY"] = delivery
    # Unit tests check the code, not the data: once is enough. The seeds and the registry do not change.
    scope = [] if first else ["--select", "stg_flight_reports+", "--exclude-resource-type", "unit_test"]
    arguments = ["build", *scope, "--project-dir", PROJECT, "--profiles-dir", PROJECT]
    folders = ["--target-path", stage.target, "--log-path", stage.logs]
    quiet = ["--log-level", "none", "--log-level-file", "debug"]
    began = time.monotonic()
    outcome = dbtRunner(callbacks=[listen]).invoke([*arguments, *folders, *quiet])
    seconds = time.monotonic() - began
    if not outcome.success:
        raise DbtFailed(*_messages(outcome))
    return seconds, list(outcome.result.results)


def _messages(outcome: Any) -> Iterator[str]:
    if outcome.exception is not None:
        yield str(outcome.exception)
    for result in getattr(outcome.result, "results", None) or ():
        if result.status in ("error", "fail", "runtime error"):
            yield f"{result.node.unique_id}: {result.message}"


def _rows_affected(results: list[Any], node: str) -> int:
    return sum(result.adapter_response.get("rows_affected") or 0 for result in results if result.node.unique_id == node)


def _by_kind(reports: pa.Table) -> dict[str, int]:
    return {one["values"]: one["counts"] for one in pc.value_counts(reports["report"]).to_pylist()}


def _ask(stage: Stage, query: str) -> pa.Table:
    """A query on the demo's tables through the engine, in the Spark session that dbt left running."""
    from tablestore_engine.store import TableStore

    return TableStore(stage.warehouse, database="nyc").sql(query).toArrow()


def _what_next(stage: Stage) -> list[tuple[str, str]]:
    """The next things to try with the tables, and the commands for them, seen from the current folder."""
    tools = os.path.relpath(os.path.dirname(sys.executable))
    look, dbt = f"{tools}/tablestore", f"{tools}/dbt"
    project = os.path.relpath(PROJECT)
    changed, fog = (" ".join(query.split()) for query in (CHANGED_HANDS, FOG))
    variables = {
        "TABLESTORE_WAREHOUSE": os.path.relpath(stage.warehouse),
        "FLIGHTS_WAREHOUSE": stage.warehouse,
        "DBT_PROJECT_DIR": project,
        "DBT_PROFILES_DIR": project,
        "DBT_TARGET_PATH": stage.target,
        "DBT_LOG_PATH": stage.logs,
    }
    exports = " ".join(f"{name}={value}" for name, value in variables.items())
    return [
        ("Say once where the tables and the project are.", f"export {exports}"),
        ("What is in the warehouse? What happened to a table? Neither needs Spark.",
         f"{look} tables; {look} snapshots -s nyc flights"),
        ("The table as it was after the first delivery.",
         f'{look} sql -s nyc "select count(*) from flights version as of 1"'),
        ("Aircraft that changed hands, from the dbt snapshot.", f'{look} sql -s nyc "{changed}"'),
        ("Does fog hold flights up? Asked of the table without a key.", f'{look} sql -s nyc "{fog}"'),
        ("The last delivery once more: everything runs, and no value changes.",
         f"FLIGHTS_DELIVERY=11 {dbt} build --select stg_flight_reports+"),
        ("The documentation, with size and commits of each table.", f"{dbt} docs generate && {dbt} docs serve"),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
