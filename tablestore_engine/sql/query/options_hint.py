"""Options in a hint at a table that is read: `FROM t /*+ OPTIONS('scan.snapshot-id' = '3') */`.

Those that name a state of the table mean the same as VERSION or TIMESTAMP AS OF. All others are options of the table
for this query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tablestore_engine.errors import OptionError
from tablestore_engine.schema.types.sql_literals import quoted_text
from tablestore_engine.sql.query_structure.query_structure import TimeTravel

Pairs = Sequence[tuple[str, str]]

_VERSIONS: Final = ("scan.snapshot-id", "scan.version", "scan.tag-name")
_MILLIS: Final = ("scan.timestamp-millis", "log.scan.timestamp-millis")
_TIME: Final = "scan.timestamp"
_MODES: Final = ("default", "full", "latest-full", "from-snapshot", "from-snapshot-full", "from-timestamp")


def time_travel_of(options: Pairs, written: TimeTravel | None) -> tuple[TimeTravel | None, tuple[tuple[str, str], ...]]:
    """The time travel of a table's hint, and its other options. `written`: by VERSION or TIMESTAMP AS OF.

    Raises:
        OptionError: two states of the table, or a value that is none.
    """
    found, rest = written, []
    for key, value in options:
        travel = _travel(key, value.strip())
        if travel is not None and found is not None:
            raise OptionError(f"The table is read at two times: '{key}' = '{value}' is the second one.")
        found = travel or found
        if travel is None and not _asks_for_a_state(key, value.strip()):
            rest.append((key, value))
    return found, tuple(rest)


def _travel(key: str, value: str) -> TimeTravel | None:
    if key in _VERSIONS:
        if key == "scan.snapshot-id" and not value.isdigit():
            raise OptionError(f"Option '{key}' cannot be '{value}': the number of a snapshot is expected.")
        return TimeTravel(version_sql=quoted_text(value))
    if key in _MILLIS:
        if not value.isdigit():
            raise OptionError(f"Option '{key}' cannot be '{value}': milliseconds since 1970 are expected.")
        return TimeTravel(timestamp_sql=f"timestamp_millis({value})")
    return TimeTravel(timestamp_sql=quoted_text(value)) if key == _TIME else None


def _asks_for_a_state(key: str, value: str) -> bool:
    """Whether an option only says that a state of the table is read, and not its changes."""
    return key in ("scan.mode", "log.scan") and value in _MODES
