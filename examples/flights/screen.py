"""The screen of the demo: a line that moves while dbt works, one line per delivery, and the summary.

Nothing here decides anything; `play.py` says what happened and this module draws it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from answers import Answer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

BAR_WIDTH = 26
OTHER_COLUMNS = 54  # characters of the chart's other columns
WHOLE_LINE = 99  # characters of a delivery's line with all that is known of it


@dataclass(frozen=True)
class Played:
    """One delivery after its `dbt build`.

    rows: reports in the delivery, by kind. changed: rows that dbt reported for `flights`. size: flights in the
    table afterwards. nodes: models, tests, seeds and snapshots that ran. seconds: wall time of the build.
    """

    title: str
    rows: dict[str, int]
    changed: int
    size: int
    expected_size: int
    nodes: int
    seconds: float


class Screen:
    """The terminal, or a log file when there is none."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)
        if not self.console.is_terminal:
            self.console.width = 110

    def opening(self, flights: int, deliveries: int) -> None:
        self.console.print()
        self.console.print(
            f"[bold]A year of flights from New York[/]: {flights:,} of them, in {deliveries} deliveries. "
            "Each is one [bold]dbt build[/] of\nthe project in examples/flights: new flights are added, corrected ones "
            "replaced, cancelled ones removed."
        )
        self.console.print()

    @contextmanager
    def building(self, title: str) -> Iterator[Building]:
        """A line that moves while the delivery is built, and goes away."""
        columns = (
            SpinnerColumn(),
            TextColumn(f"{title:<17}"),
            BarColumn(bar_width=BAR_WIDTH),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.description}[/]"),
        )
        # In a log file the line could not move, only leave blank ones behind.
        with Progress(*columns, console=self.console, transient=True, disable=not self.console.is_terminal) as progress:
            yield Building(progress, progress.add_task("dbt reads the project", total=None))

    def delivered(self, played: Played) -> None:
        rows = played.rows
        parts = [
            f"[green]{rows.get('flown', 0):>6,}[/] new",
            f"[yellow]{rows.get('correction', 0):>5,}[/] corrected",
            f"[red]{rows.get('cancellation', 0):>5,}[/] cancelled",
        ]
        mark = "[green]✓[/]" if played.size == played.expected_size else "[bold red]✗[/]"
        work = f"  {played.nodes:>3} nodes {played.seconds:>5.1f} s"
        self.console.print(
            f"{mark} {played.title:<17}{' '.join(parts)}  → [bold]{played.size:>7,}[/] flights"
            f"{work if self.console.width >= WHOLE_LINE else ''}"
        )

    def chart(self, history: Sequence[Played]) -> None:
        """Size of the table and time of the build, side by side, one row per delivery."""
        self.console.print()
        table = Table(title=growth(history), title_justify="left", box=None, pad_edge=False)
        width = max(8, min(BAR_WIDTH, (self.console.width - OTHER_COLUMNS) // 2))
        table.add_column("delivery")
        table.add_column("flights", justify="right")
        table.add_column("in the table", width=width)
        table.add_column("changed", justify="right")
        table.add_column("seconds", justify="right")
        table.add_column("for its dbt build", width=width)
        largest = max(one.size for one in history)
        # The first build starts Spark as well; a bar to its scale would make all others look alike.
        slowest = max(one.seconds for one in history[1:] or history)
        for one in history:
            colour = "green" if one is not history[0] else "dim"
            table.add_row(
                one.title,
                f"{one.size:,}",
                _bar(one.size / largest, "blue", width),
                f"{one.changed:,}",
                f"{one.seconds:.1f}",
                _bar(min(1, one.seconds / slowest), colour, width),
            )
        self.console.print(table)
        self.console.print("[dim]The first build also starts Spark, loads the seeds and runs the unit test.[/]")

    def answers(self, answers: Sequence[Answer]) -> None:
        self.console.print()
        table = Table(
            title="Asked of the tables, and recomputed from the published files by pyarrow alone",
            title_justify="left",
            box=None,
            pad_edge=False,
            padding=(0, 3, 0, 0),
        )
        for name in ("question", "the tables say", "the raw data says", ""):
            table.add_column(name)
        for answer in answers:
            mark = "[green]✓[/]" if answer.right else "[bold red]✗[/]"
            table.add_row(answer.question, answer.answered, answer.recomputed, mark)
        self.console.print(table)

    def closing(self, lines: Sequence[tuple[str, str]], seconds: float) -> None:
        """lines: what one may do next and the command for it."""
        self.console.print()
        self.console.print(f"[bold]Played in {seconds:.0f} seconds.[/] To go on from here:")
        for what, command in lines:
            self.console.print(f"\n  [dim]# {what}[/]")
            self.console.print(Text(f"  {command}"), soft_wrap=True)
        self.console.print()

    def failure(self, title: str, messages: Sequence[str], log: str) -> None:
        self.console.print(f"\n[bold red]dbt could not build the delivery {title}.[/]")
        for message in messages:
            self.console.print(Text(message.rstrip()), soft_wrap=True)
        self.console.print(f"\nThe full log: {log}")


class Building:
    """The moving line of one build."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def started(self, name: str, total: int) -> None:
        """A node began; `total` is how many the build has."""
        self._progress.update(self._task, description=name, total=total)

    def finished(self) -> None:
        self._progress.advance(self._task)


def growth(history: Sequence[Played]) -> str:
    """The growth of the table and of the builds. The first build is left out, because it also starts Spark."""
    later = history[1:] or history
    largest = max(later, key=lambda one: one.size)
    return (
        f"Flights in the table: {later[0].size:,} → {largest.size:,}. "
        f"Seconds of a build: {later[0].seconds:.1f} → {largest.seconds:.1f}"
    )


def _bar(share: float, colour: str, width: int) -> Text:
    """A bar of eighths of a character, so that small differences show."""
    full, rest = divmod(round(share * width * 8), 8)
    return Text("█" * full + (" ▏▎▍▌▋▊▉"[rest] if rest else ""), colour)
