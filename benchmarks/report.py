"""The report as a table on the terminal and as a page of the documentation."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Report, Row

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
_BEGIN, _END = "<!-- measured -->", "<!-- /measured -->"


def _bar(row: Row, missed: str) -> str:
    if row.bar is None:
        return ""
    return f"≤ {row.bar:g} {missed}" if row.is_missed else f"≤ {row.bar:g}"


def print_report(report: Report) -> None:
    """Print the lines with their bars."""
    table = Table("what", "measured", "base", "ratio", "bar")
    for row in report.rows:
        colour = "red" if row.is_missed else "green"
        table.add_row(
            row.what,
            f"{row.measured:.2f} {row.unit}",
            f"{row.base:.2f} {row.unit}",
            f"[{colour}]{row.ratio:.2f}[/]",
            _bar(row, "missed"),
        )
    Console(width=130).print(table)


def write_report(report: Report) -> None:
    """Put the lines between the marks of docs/benchmarks.md."""
    lines = [
        f"Measured {datetime.now(timezone.utc):%Y-%m-%d} on {os.cpu_count()} cores by `make bench`, in one run.",
        "",
        "| what | measured | base | ratio | bar |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in report.rows:
        figures = f"{row.measured:.2f} {row.unit} | {row.base:.2f} {row.unit} | {row.ratio:.2f}"
        lines.append(f"| {row.what} | {figures} | {_bar(row, '**missed**')} |")
    lines += ["", *[f"- {note}" for note in report.notes]]
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    PAGE.write_text(text[:start] + "\n" + "\n".join(lines) + "\n" + text[end:], encoding="utf-8")
