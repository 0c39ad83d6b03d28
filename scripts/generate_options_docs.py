"""Writes docs/options.md from the declarations in `tablestore_engine.options`.

python scripts/generate_options_docs.py            write the page
python scripts/generate_options_docs.py --check    only say whether it is fresh (exit code 1 when stale)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tablestore_engine.options import OPTIONS, Effect, TableOption
from tablestore_engine.options.option import Derived
from tablestore_engine.options.option_type import BOOLEAN, DURATION, MEMORY, OptionType

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "options.md")

INTRODUCTION = """\
# Table options

*Generated from the code by `make docs`; edit the declarations in `tablestore_engine/options` instead.*

Options belong to a table. They are set in a dbt model with `table_options`, in SQL with `WITH ('key' = 'value')` or
`TBLPROPERTIES ('key' = 'value')` at `CREATE TABLE`, and are kept in the table's schema file. The common ones have a
dbt config of their own:

| dbt config | option |
|---|---|
| `buckets` | `bucket` |
| `merge_engine` | `merge-engine` |
| `sequence_field` | `sequence.field` |
| `clustered_by` | `bucket-key` |

```yaml
models:
  my_project:
    orders:
      +buckets: 8
      +table_options:
        target-file-size: 64 mb
        write-only: true
```

`SET table-storage.<option> = <value>` gives the new tables of a session a default, `RESET table-storage.<option>` takes
it back, `RESET` alone all of them and the settings of Spark, and `SET table-storage` shows all;
`TableStore(options={…})` and `spark_config` of the profile set them from the start. A default
number of buckets is for tables with a key or a `bucket-key`.

A misspelt key and a value that an option cannot take are errors; the message names the nearest key that exists. A short
name that may be your own, such as `csvo.x` or `onwer`, is kept; the note of CREATE TABLE names the nearest key. SET
takes options only. Sizes
are written like `128 mb` (b, kb, mb, gb, tb), durations like `10 s` (ms, s, min, h, d), columns as `a,b`. A *fixed*
option cannot be changed once the table has data; partition columns, a primary key that is set and the options of a log
cannot even before. A number that another tool stored and that is beyond the limits here is taken as the nearest one
within them.
"""

OWN = """\
## Options of this engine only, which statements set

Other readers of the format keep these and ignore them. CHECK constraints of CREATE and ALTER TABLE are
`constraint.check.*`; only dbt uses `dbt.options` and `dbt.query`.
"""

REFUSED = """\
## Refused: {count} options

Ignoring a value other than the default would make answers or files wrong. Such values are therefore refused, with this
reason: when a table is created, and when a table of another tool that has them is read or written.
"""

KEPT = """\
## Kept for other engines: {count} options

They are accepted and stored, change nothing here, and answers are correct without them. The statement that sets one
says so in a note, the first time in a process. So it does for an option that has no effect in this table, because it
lacks what the option needs ("No effect without …" above), and for a property that is no table option, such as `team`.

| what they are for | options |
|---|---|
"""


def page() -> str:
    """The whole page as text."""
    acted = [one for one in OPTIONS if one.supported]
    own = [one for one in OPTIONS if one.ours and not one.supported]
    later = [one for one in OPTIONS if not one.supported and not one.ours]
    kept = [one for one in later if one.effect is Effect.NONE]
    refused = [one for one in later if one.effect is not Effect.NONE]
    parts = [
        INTRODUCTION,
        f"## Options that work: {len(acted)}\n",
        _table(acted),
        OWN,
        _table(own),
        REFUSED.format(count=len(refused)),
        _table(refused),
        KEPT.format(count=len(kept)) + _groups(kept),
    ]
    return "\n".join(parts)


def _groups(options: Iterable[TableOption[Any]]) -> str:
    """One row for the options of one description."""
    groups: dict[str, list[str]] = {}
    for one in options:
        groups.setdefault(one.description, []).extend(map(_code, one.keys))
    return "".join(f"| {_escape(what)} | {', '.join(sorted(keys))} |\n" for what, keys in groups.items())


def _table(options: Iterable[TableOption[Any]]) -> str:
    rows = ["| option | type | default | what it does |", "|---|---|---|---|"]
    for one in sorted(options, key=lambda option: option.key):
        key = _code(one.key)
        rows.append(f"| {key} | {one.type.name} | {_default(one)} | {' '.join(_sentences(one))} |")
    return "\n".join(rows) + "\n"


def _sentences(option: TableOption[Any]) -> Iterator[str]:
    yield _escape(option.description)
    if option.accepted is not None:
        values = ", ".join(_code(_shown(value, option.type)) for value in option.accepted)
        yield f"Supported for now: {values}."
    elif option.choices:
        yield f"One of {', '.join(_code(value) for value in option.choices)}."
    if option.ignored:
        yield f"If it were ignored, {_escape(option.ignored)}."
    if option.needs is not None:
        quoted = option.needs.otherwise.replace("'", "`")
        yield f"No effect {_escape(quoted)}."
    if option.ours and option.supported:
        yield "Of this engine only."
    if option.immutable:
        yield "*Fixed.*"
    if option.fallback_keys:
        yield f"Also written {', '.join(_code(key) for key in option.fallback_keys)}."


def _default(option: TableOption[Any]) -> str:
    value = option.default
    return "" if value is None or value == () or isinstance(value, Derived) else _code(_shown(value, option.type))


def _shown(value: Any, kind: OptionType[Any]) -> str:
    """A value as one would write it."""
    if kind is BOOLEAN:
        return str(value).lower()
    if kind is MEMORY:
        return _with_unit(value, (("gb", 1 << 30), ("mb", 1 << 20), ("kb", 1 << 10), ("b", 1)))
    if kind is DURATION:
        return _with_unit(value, (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)))
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _with_unit(value: int, units: tuple[tuple[str, int], ...]) -> str:
    for name, size in units:
        if value and value % size == 0:
            return f"{value // size} {name}"
    return str(value)


def _code(text: str) -> str:
    return f"`{_escape(text)}`"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    from generated_page import keep_fresh

    sys.exit(keep_fresh(PAGE, page(), __doc__))
