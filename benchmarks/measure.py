"""Timing: alternate what is compared, take the best of a few, report ratios.

The machine is noisy, and what disturbs only ever adds time: the minimum of several alternating runs is the figure that
repeats. Ratios are of such minima, taken in one process. The small form only shows that every benchmark works: it runs
each action once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import psutil

MOST_RUNS: int | None = None  # after the warm-up; of 0 the warm-up is what counts


def often(runs: int) -> int:
    """How often to do what has no warm-up, of which `runs` are usual."""
    return runs if MOST_RUNS is None else max(1, min(runs, MOST_RUNS))


@dataclass(frozen=True)
class Row:
    """One line of the report. `ratio` is measured ÷ base, both in `unit`; `bar` is what it should not exceed."""

    what: str
    measured: float
    base: float
    bar: float | None = None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        return self.measured / self.base

    @property
    def is_missed(self) -> bool:
        return self.bar is not None and self.ratio > self.bar


@dataclass
class Report:
    """The lines of a run and the facts around them."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, what: str, seconds: float, base_seconds: float, bar: float | None = None) -> None:
        self._add(Row(what, seconds, base_seconds, bar))

    def add_bytes(self, what: str, size: float, base_size: float, bar: float | None = None) -> None:
        self._add(Row(what, size / 1e6, base_size / 1e6, bar, "MB"))

    def _add(self, row: Row) -> None:
        if MOST_RUNS is not None:
            row = replace(row, bar=None)  # nothing is warm
        self.rows.append(row)
        verdict = "" if row.bar is None else f"  (bar {row.bar:g}{', missed' if row.is_missed else ''})"
        measured = f"{row.measured:.2f} {row.unit} ÷ {row.base:.2f} {row.unit}"
        print(f"{row.what}: {measured} = {row.ratio:.2f}{verdict}", flush=True)

    def note(self, text: str) -> None:
        self.notes.append(text)
        print(text, flush=True)


@dataclass(frozen=True)
class Used:
    """Seconds that something took: by the clock, and of processors, in this process and its children."""

    wall: float
    processor: float

    @staticmethod
    def least(many: Sequence[Used]) -> Used:
        return Used(min(one.wall for one in many), min(one.processor for one in many))


def used_by(action: Callable[[], object]) -> Used:
    """The time that an action takes. Of processes that end meanwhile, that of processors is left out."""
    before, start = _processor_seconds(), time.perf_counter()
    action()
    wall, after = time.perf_counter() - start, _processor_seconds()
    return Used(wall, sum(seconds - before.get(one, 0.0) for one, seconds in after.items()))


def _processor_seconds() -> dict[psutil.Process, float]:
    """The processor time of this process and of each of its children so far."""
    this = psutil.Process()
    found = {}
    for process in (this, *this.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            found[process] = times.user + times.system
    return found


def once(action: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def alternating(first: Callable[[], object], second: Callable[[], object], runs: int) -> tuple[float, float]:
    """Minima of two actions that take turns; each has a warm-up run that does not count."""
    warm_up = (once(first), once(second))
    times = [(once(first), once(second)) for _ in range(runs if MOST_RUNS is None else min(runs, MOST_RUNS))]
    times = times or [warm_up]
    return min(a for a, _ in times), min(b for _, b in times)
