"""Maps the columns of a view to the columns of its query.

The *stored* names are those of the query's columns when the view was created. The *found* names are the current ones,
which may differ because `select *` returns the current columns of its table. Invariant: a view's column is found by its
stored name, never by its position, so a changed column order does not assign a column to another name.

A condition on a view's columns is translated to its query's columns, so files are also pruned when a table is read
through a view.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tablestore_engine.errors import BrokenViewError
from tablestore_engine.metadata.warehouse.view import View
from tablestore_engine.schema.table.predicate import Predicate, conjunction
from tablestore_engine.schema.types.names import Names
from tablestore_engine.sql.query.bind import TableReference, references
from tablestore_engine.sql.query.predicate_reader import translate


def positions(view: str, stored: Sequence[str], found: Sequence[str]) -> tuple[int, ...]:
    """The index of each stored column among those found; columns with equal names keep their order.

    view: `database.name`, for the message.

    Raises BrokenViewError when a name is missing, or occurs more or less often than before.
    """
    indices: dict[str, list[int]] = {}
    key = Names([*stored, *found]).key if Names(stored).alike else str.lower
    for index, name in enumerate(found):
        indices.setdefault(key(name), []).append(index)
    wanted = [key(name) for name in stored]
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
    """The tables that a view's query names, restricted by a predicate on the view; empty if it restricts nothing."""
    if predicate is None or len(view.query_columns) != len(view.columns):
        return ()
    often = Counter(name.lower() for name in view.query_columns)
    own = Counter(field.name.lower() for field in view.columns)
    names = {
        field.name.lower(): name
        for field, name in zip(view.columns, view.query_columns, strict=True)
        if often[name.lower()] == 1 and own[field.name.lower()] == 1
    }
    asked = conjunction(translate(predicate, lambda column: _of_query(names, column)).get("", []))
    return () if asked is None else references(view.sql, asked)


def _of_query(names: Mapping[str, str], column: str) -> tuple[str, str] | None:
    """The column of a view's query from which a column of the view is copied."""
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
