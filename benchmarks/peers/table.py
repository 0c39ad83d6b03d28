"""The table of the peers: from the figures of their processes to lines of docs/benchmarks.md."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers.engines import ENGINES, Engine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
_BEGIN, _END = "<!-- peers -->", "<!-- /peers -->"
Figures = Mapping[str, float]

_COLUMNS = (
    ("CTAS", ("ctas",)),
    ("upsert: first, third", ("upsert 1", "upsert 3")),
    ("MERGE of 600", ("merge",)),
    ("sum: loaded, 3 upserts, compacted", ("sum after load", "sum after upsert 3", "sum after compaction")),
    ("Q1: the same", ("q1 after load", "q1 after upsert 3", "q1 after compaction")),
    ("full compaction", ("compaction",)),
    ("MB: loaded, written, compacted", ("MB loaded", "MB written", "MB compacted")),
)


def _shown(figures: Figures, step: str) -> str:
    if step not in figures:
        return "–"
    return f"{figures[step]:.1f}" if figures[step] >= 9.95 else f"{figures[step]:.2f}"


def table_of(found: Mapping[str, Mapping[str, Any]], scale: float) -> list[str]:
    """The lines for the figures of all engines, by name and state."""
    dates = sorted({one["at"] for states in found.values() for one in states.values() if "at" in one})
    when = dates[0] if len(set(dates)) == 1 else f"{dates[0]} to {dates[-1]}" if dates else "never"
    lines = [
        f"Measured {when} on {os.cpu_count()} cores by `make bench-peers` at SF {scale:g}, in seconds.",
        "",
        f"| engine | state | {' | '.join(name for name, _ in _COLUMNS)} |",
        f"|---|---|{'---:|' * len(_COLUMNS)}",
    ]
    known = [one for one in ENGINES if one.name in found]
    for engine in known:
        lines += [_line(engine, state, figures) for state, figures in found[engine.name].items()]
    lines += ["", *(f"- {one.label} ({_versions(one, found[one.name])}): {one.lacks}." for one in known)]
    return [*lines, *_failed(known, found), *_differing(known, found)]


def _line(engine: Engine, state: str, found: Mapping[str, Any]) -> str:
    cells = (", ".join(_shown(found["figures"], step) for step in steps) for _, steps in _COLUMNS)
    return f"| {engine.label} | {state} | {' | '.join(cells)} |"


def _versions(engine: Engine, states: Mapping[str, Any]) -> str:
    spark = next((one["versions"]["spark"] for one in states.values() if "versions" in one), "?")
    jars = [one.rpartition(":")[2] for one in engine.jars]
    return ", ".join([*jars, f"Spark {spark}"])


def _failed(engines: Sequence[Engine], found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [
        f"- {one.label}, {state}: {figures['failed']}."
        for one in engines
        for state, figures in found[one.name].items()
        if "failed" in figures
    ]


def _differing(engines: Sequence[Engine], found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line for each engine whose sums are not those of the first one, as far as it came: it did something else."""
    answers = {
        (one.label, state): figures["answers"]
        for one in engines
        for state, figures in found[one.name].items()
        if "answers" in figures
    }
    first = next(iter(answers.values()), None)
    return [
        f"- {label}, {state}: its sums differ."
        for (label, state), given in answers.items()
        if given != (first or [])[: len(given)]
    ]


def write_table(lines: Sequence[str]) -> None:
    """Put the lines between the marks of docs/benchmarks.md."""
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    PAGE.write_text(text[:start] + "\n" + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")
