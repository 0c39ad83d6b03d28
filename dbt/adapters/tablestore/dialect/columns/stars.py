"""`SELECT * REPLACE`, `RENAME` and `ILIKE`, which Spark does not have: the columns of the star are written out.

Where the columns of the tables are not known, the star stays, and is refused later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from dbt.adapters.tablestore.dialect.columns.outputs import columns_of_star
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, about

_CHANGES = ("replace", "rename", "ilike")


def write_stars_out(tree: exp.Expr, columns_of: Columns | None) -> None:
    """Replace such stars, in inner queries first."""
    for select in reversed(list(tree.find_all(exp.Select))):
        for star in list(select.expressions):
            inner = star.this if isinstance(star, exp.Column) else star
            if not isinstance(inner, exp.Star) or not any(inner.args.get(one) for one in _CHANGES):
                continue
            try:
                found = columns_of_star(star, select, columns_of, "SELECT *")
            except Untranslatable:
                continue
            found = list(found)
            _refuse_unknown(inner, {name.name.lower() for _, name in found})
            star.replace(list(_items(inner, found, bool(select.args.get("joins")))))


def _refuse_unknown(star: exp.Expr, columns: set[str]) -> None:
    """Raise Untranslatable for a column that REPLACE or RENAME names and the star does not have."""
    for word in ("replace", "rename"):
        for one in star.args.get(word) or []:
            name = one.alias if word == "replace" else one.this.name
            if name.lower() not in columns:
                with about(one):
                    raise Untranslatable(f"SELECT * {word.upper()} of '{name}', which is no column of the star")


def _items(star: exp.Expr, found: Iterable[tuple[str, exp.Identifier]], joined: bool) -> Iterable[exp.Expr]:
    new = {one.alias.lower(): one.this for one in star.args.get("replace") or []}
    names = {one.this.name.lower(): one.args["alias"] for one in star.args.get("rename") or []}
    pattern = star.args.get("ilike")
    for source, name in found:
        key = name.name.lower()
        if pattern is not None and not _is_like(key, pattern.name.lower()):
            continue
        column = exp.column(name.copy(), table=exp.to_identifier(source) if joined and source else None)
        if key in new:
            yield exp.alias_(new[key].copy(), names.get(key, name).copy())
        else:
            yield exp.alias_(column, names[key].copy()) if key in names else column


def _is_like(name: str, pattern: str) -> bool:
    parts = (".*" if one == "%" else "." if one == "_" else re.escape(one) for one in pattern)
    return re.fullmatch("".join(parts), name) is not None
