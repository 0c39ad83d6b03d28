"""Which columns of a view's query are the view's own.

The *stored* names are those that the query's columns had when the view was created; the *found* ones are those that it
has now, for `select *` gives what its table has. Invariant: a view's column is found by its stored name, never by where
it stands, so that a table whose columns changed order cannot put one column under another's name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tablestore_engine.errors import BrokenViewError


def positions(view: str, stored: Sequence[str], found: Sequence[str]) -> tuple[int, ...]:
    """Where each stored column stands among those found; of columns that share a name, in their order.

    view: `database.name`, for the message.

    Raises BrokenViewError when a name is gone, or is there more or less often than it was.
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(found):
        places.setdefault(name.lower(), []).append(place)
    wanted = [name.lower() for name in stored]
    often, taken = Counter(wanted), Counter[str]()
    chosen = []
    for place, name in enumerate(wanted):
        there = places.get(name, [])
        if len(there) != often[name]:
            raise _broken(view, stored[place], often[name], len(there), found)
        chosen.append(there[taken[name]])
        taken[name] += 1
    return tuple(chosen)


def _broken(view: str, name: str, before: int, now: int, found: Sequence[str]) -> BrokenViewError:
    if now:
        what = f"its query had {before} and now has {now} columns named '{name}'."
        return BrokenViewError(
            f"View '{view}' cannot be read any more: {what}", hint="Create it again, and name its columns."
        )
    return BrokenViewError(
        f"View '{view}' cannot be read any more: its query has no column '{name}' now. "
        f"It has: {', '.join(found)}.",
        hint="Create it again on what exists now.",
    )
