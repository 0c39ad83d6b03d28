"""`SELECT * REPLACE`, `RENAME` and `ILIKE`, which Spark does not have: the columns of the star are written out; and the
fields of a computed struct, `f(x).*`, which are those of a column of an inner query.

Where the columns of the tables are not known, the star stays, and is refused later.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from dbt.adapters.tablestore.dialect.columns.name_tests import is_like
from dbt.adapters.tablestore.dialect.columns.outputs import columns_of_star
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, about

_WHOLE = "_struct"
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


def read_computed_structs(tree: exp.Expr) -> exp.Expr:
    """The tree in which such structs are computed in a query of their own. Raises Untranslatable where the other
    columns have no names."""
    for select in reversed(list(tree.find_all(exp.Select))):
        items = select.expressions
        found = [one for one in items if _is_computed(one)]
        if found:
            with about(found[0]):
                made = _select_fields(select, items, found)
            select.replace(made)
            tree = made if select is tree else tree
    return tree


def _is_computed(item: exp.Expr) -> bool:
    whole = item.this if isinstance(item, exp.Dot) and isinstance(item.expression, exp.Star) else None
    while isinstance(whole, exp.Dot):
        whole = whole.this
    return whole is not None and not isinstance(whole, (exp.Column, exp.Identifier))


def _select_fields(select: exp.Select, items: list[exp.Expr], found: list[exp.Expr]) -> exp.Expr:
    names = [one.alias_or_name.lower() for one in items if one not in found]
    starred = any(one.is_star for one in items if one not in found)
    if not all(names) or len(set(names)) < len(names) or (starred and items[-len(found) :] != found):
        raise Untranslatable("the fields of a computed struct next to columns without names (name the fields)")
    inner, chosen = select.copy(), [exp.Column(this=_name(one).copy()) for one in items if not one.is_star]
    structs = [f"{_WHOLE}{number or ''}" for number in range(len(found))]
    made: list[exp.Expr] = []
    for item, copied in zip(items, inner.expressions, strict=True):
        if item in found:
            name = structs[found.index(item)]
            copied.replace(exp.alias_(copied.this.copy(), name))
            made.append(exp.Column(this=item.expression.copy(), table=exp.to_identifier(name)))
        elif not starred:
            made.append(chosen.pop(0))
    if starred:
        made.insert(0, exp.Star(except_=[exp.to_identifier(one) for one in structs]))
    inner.set("with_", None)
    alias = exp.TableAlias(this=exp.to_identifier("_rows"))
    outer = exp.select(*made).from_(exp.Subquery(this=inner, alias=alias))
    outer.set("with_", select.args.get("with_"))
    return outer


def _name(item: exp.Expr) -> exp.Expr:
    """The name of a column, in quotes where it has some."""
    name = item.args.get("alias") or item.this
    return name if isinstance(name, exp.Identifier) else exp.to_identifier(item.alias_or_name)


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
        if pattern is not None and not is_like(key, pattern.name.lower()):
            continue
        column = exp.column(name.copy(), table=exp.to_identifier(source) if joined and source else None)
        if key in new:
            yield exp.alias_(new[key].copy(), names.get(key, name).copy())
        else:
            yield exp.alias_(column, names[key].copy()) if key in names else column
