"""Which columns of a view's query are the view's own.

The *stored* names are those that the query's columns had when the view was created; the *found* ones are those that it
has now, for `select *` gives what its table has. Invariant: a view's column is found by its stored name, never by where
it stands, so that a table whose columns changed order cannot put one column under another's name.

A condition on a view's columns is one on its query's, so that files that no asked row is in are not read through a
view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tablestore_engine.errors import BrokenViewError
from tablestore_engine.metadata.view import View
from tablestore_engine.schema.table.predicate import Predicate, conjunction
from tablestore_engine.sql.query.bind import TableReference, references
from tablestore_engine.sql.query.predicate_reader import translate


def positions(view: str, stored: Sequence[str], found: Sequence[str]) -> tuple[int, ...]:
    """Where each stored column stands among those found; of columns that share a name, in their order.

    view: `database.name`, for the message.

    Raises BrokenViewError when a name is gone, or is there more or less often than it was.
    """
    indices: dict[str, list[int]] = {}
    for index, name in enumerate(found):
        indices.setdefault(name.lower(), []).append(index)
    wanted = [name.lower() for name in stored]
    often, taken = Counter(wanted), Counter[str]()
    chosen = []
    for index, name in enumerate(wanted):
        there = indices.get(name, [])
        if len(there) != often[name]:
            raise _broken(view, stored[index], often[name], len(there), found)
        chosen.append(there[taken[name]])
        taken[name] += 1
    return tuple(chosen)


def references_of_view(view: View, predicate: Predicate | None) -> tuple[TableReference, ...]:
    """The tables that a view's query names, with what a predicate on the view says of their rows; none if nothing."""
    if predicate is None or len(view.query_columns) != len(view.columns):
        return ()
    often = Counter(name.lower() for name in view.query_columns)
    names = {
        field.name.lower(): name
        for field, name in zip(view.columns, view.query_columns, strict=True)
        if often[name.lower()] == 1
    }
    asked = conjunction(translate(predicate, lambda column: _of_query(names, column)).get("", []))
    return () if asked is None else references(view.sql, asked)


def _of_query(names: Mapping[str, str], column: str) -> tuple[str, str] | None:
    """The column of a view's query that a column of the view is a copy of."""
    name = names.get(column.lower())
    return None if name is None else ("", name)


def _broken(view: str, name: str, before: int, now: int, found: Sequence[str]) -> BrokenViewError:
    if now:
        what = f"its query had {before} and now has {now} columns named '{name}'."
        return BrokenViewError(
            f"View '{view}' cannot be read any more: {what}", hint="Create it again, and name its columns."
        )
    return BrokenViewError(
        f"View '{view}' cannot be read any more: its query has no column '{name}' now. It has: {', '.join(found)}.",
        hint="Create it again on what exists now.",
    )
