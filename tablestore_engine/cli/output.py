"""The output of the command `tablestore`: tables of rows, and a spinner while something runs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_PIPE_WIDTH = 10_000  # lines in a file or pipe are not wrapped


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a spinner on a terminal; it disappears afterwards."""
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def show_table(
    titles: Sequence[str],
    types: Sequence[str],
    rows: Iterable[Sequence[Any]],
    limit: int | None = None,
    *,
    counted: bool = True,
) -> None:
    """Print the first `limit` rows below their titles, and how many there are."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shown = list(rows)
    cut = limit is not None and len(shown) > limit
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for at, title in enumerate(titles):
        is_number = at < len(types) and types[at].partition("(")[0] in _NUMBERS
        table.add_column(Text(title), justify="right" if is_number else "left", overflow="fold")
    for row in shown[:limit]:
        table.add_row(*(Text("NULL", style="dim") if value is None else Text(_text(value)) for value in row))
    console = _console()
    console.print(table)
    if counted:
        count = len(shown[:limit])
        more = ", and more (--limit sets how many are shown)" if cut else ""
        console.print(f"{count:,} row{'' if count == 1 else 's'}{more}", style="dim")


def show_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print labels and their values, one pair a line."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for label, value in pairs:
        table.add_row(Text(label, style="dim"), Text(value, overflow="fold"))
    _console().print(table)


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
