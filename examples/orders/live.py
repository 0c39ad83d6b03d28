"""The view of the demo: a table that moves while messages come and dbt runs, and the answers at the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Lock

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text
from shop import Answer

BAR_WIDTH = 30


@dataclass
class State:
    """How far everything is. The shop's thread writes `sent`, the main thread the rest."""

    seconds: float
    elapsed: float = 0.0
    sent: int = 0
    taken: int = 0
    runs: int = 0
    last_run: float = 0.0
    orders: int = 0
    totals: dict[str, tuple[int, Decimal]] = field(default_factory=dict)
    best: dict[str, str] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    @property
    def lag(self) -> int:
        """How many messages the first model has not taken yet."""
        return max(0, self.sent - self.taken)


class Screen:
    """The terminal, or a log file when there is none: then a line is written after each run."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)
        if not self.console.is_terminal:
            self.console.width = 110

    def opening(self, servers: str, seconds: float) -> None:
        self.console.print(
            f"\n[bold]A shop's orders, live[/]: for {seconds:.0f} seconds orders come, change and are cancelled, each a"
            f" message on Kafka ({servers}).\nEach [bold]dbt run[/] takes what is new through orders → enriched_orders"
            " → daily_totals → top_days.\n"
        )

    @contextmanager
    def moving(self, state: State) -> Iterator[None]:
        """The view is drawn again some times a second, from the state."""
        if not self.console.is_terminal:
            yield
            return
        with Live(console=self.console, get_renderable=lambda: drawn(state), refresh_per_second=4, transient=True):
            yield

    def ran(self, state: State) -> None:
        """After a run."""
        if not self.console.is_terminal:
            self.console.print(
                f"{state.elapsed:>6.1f} s  run {state.runs:>3} took {state.last_run:>5.1f} s  {state.taken:>8,} taken"
                f", {state.lag:>6,} behind  {state.orders:>7,} orders"
            )

    def closing(self, state: State, answers: Sequence[Answer]) -> None:
        """The last state, and what the tables hold against what was recomputed."""
        if self.console.is_terminal:
            self.console.print(drawn(state))
        table = Table(title="The tables, and what the shop knows", title_justify="left", box=None, pad_edge=False)
        for name in ("table", "rows", "recomputed", "different", ""):
            table.add_column(name, justify="left" if name in ("table", "") else "right")
        for one in answers:
            mark = "[green]✓[/]" if one.right else "[bold red]✗[/]"
            table.add_row(one.table, f"{one.rows:,}", f"{one.expected:,}", f"{one.different:,}", mark)
        self.console.print()
        self.console.print(table)
        self.console.print(
            f"\n[bold]{state.sent:,} messages in {state.runs} runs of dbt, {state.elapsed:.0f} seconds.[/]\n"
        )

    def failure(self, messages: Sequence[str], log: str) -> None:
        self.console.print("\n[bold red]A run of dbt failed.[/]")
        for message in messages:
            self.console.print(Text(message.rstrip()), soft_wrap=True)
        self.console.print(f"\nThe full log: {log}")


def drawn(state: State) -> Group:
    """The state as a picture: time, lag, and the totals of each country."""
    with state.lock:
        head = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
        head.add_row("time", _bar(state.elapsed / state.seconds, "cyan", f"{state.elapsed:.0f} s"))
        share = state.taken / state.sent if state.sent else 0.0
        head.add_row("taken", _bar(share, "green", f"{state.taken:,} of {state.sent:,} messages"))
        head.add_row("lag", f"[bold]{state.lag:,}[/] messages; run {state.runs} took {state.last_run:.1f} s")
        totals = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
        for name in ("country", "orders", "turnover", "best day"):
            totals.add_column(name, justify="right" if name in ("orders", "turnover") else "left")
        for country, (orders, amount) in sorted(state.totals.items()):
            totals.add_row(country, f"{orders:,}", f"{amount:,.2f}", state.best.get(country, ""))
        return Group(head, Text(""), totals)


def _bar(share: float, colour: str, label: str) -> Text:
    full = round(min(1.0, share) * BAR_WIDTH)
    return Text.assemble(("█" * full, colour), ("░" * (BAR_WIDTH - full), "dim"), f" {label}")
