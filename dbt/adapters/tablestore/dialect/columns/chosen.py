"""DuckDB's COLUMNS(*), COLUMNS('pattern'), COLUMNS(lambda c: …) and * LIKE: an item of a select list for each such
column, and a condition in WHERE that holds for all of them. The columns of the tables must be known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dbt.adapters.tablestore.dialect.columns.name_tests import is_like, test_of
from dbt.adapters.tablestore.dialect.columns.outputs import columns_of_star
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, about

_Chosen = Sequence[tuple[str, exp.Identifier]]


def write_columns_out(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Replace COLUMNS(…), in inner queries first. Raises Untranslatable where the columns are not known."""
    for select in reversed(list(tree.find_all(exp.Select))) if dialect == "duckdb" else ():
        for item in list(select.expressions):
            if isinstance(item, (exp.Like, exp.ILike)) and isinstance(item.this, exp.Star):
                item.replace(_alike(item, select, columns_of))
                continue
            chosen = _chosen(item, select, columns_of)
            if chosen is not None:
                item.replace(list(_items(item, chosen, joined=bool(select.args.get("joins")))))
        where = select.args.get("where")
        chosen = None if where is None else _chosen(where.this, select, columns_of)
        if where is not None and chosen is not None:
            joined = bool(select.args.get("joins"))
            where.set("this", exp.and_(*(_for(where.this, one, joined=joined) for one in chosen)))


def _alike(item: exp.Expr, select: exp.Select, columns_of: Columns | None) -> list[exp.Expr]:
    """The columns of `* LIKE 'a%'`."""
    pattern, ignore_case = item.expression.name, isinstance(item, exp.ILike)
    found = columns_of_star(item.this, select, columns_of, "SELECT * LIKE")
    return [exp.column(name.copy()) for _, name in found if is_like(name.name, pattern, ignore_case=ignore_case)]


def _chosen(part: exp.Expr, select: exp.Select, columns_of: Columns | None) -> _Chosen | None:
    """The columns that are chosen in a part of a query, with the sources that they are of; None where none are."""
    calls = [one for one in part.find_all(exp.Columns) if one.find_ancestor(exp.Select) is select]
    if not calls:
        return None
    first = calls[0]
    with about(first):
        if any(one != first for one in calls):
            raise Untranslatable("two COLUMNS(…) of other columns in one expression")
        if first.args.get("unpack"):
            raise Untranslatable("*COLUMNS(…) (name the columns)")
        given = first.this
        star = isinstance(given, exp.Star) or (isinstance(given, exp.Column) and given.is_star)
        inner = given.this if isinstance(given, exp.Column) else given
        if star and any(inner.args.get(one) for one in ("replace", "rename", "ilike")):
            raise Untranslatable("COLUMNS(* REPLACE …) (name the columns)")
        test = None if star else test_of(given)
        if not star and test is None:
            raise Untranslatable("COLUMNS(…) of a computed value (name the columns, or write a pattern)")
        found = columns_of_star(given if star else exp.Star(), select, columns_of, "COLUMNS(…)")
        kept = [one for one in found if test is None or test(one[1].name)]
        if not kept:
            raise Untranslatable(f"COLUMNS({given.sql('duckdb')}), which is no column of the query's tables")
        return kept


def _items(item: exp.Expr, chosen: _Chosen, *, joined: bool) -> Iterator[exp.Expr]:
    """An item for each column, whose name it has, unless it has an alias."""
    value = item.unalias()
    for one in chosen:
        made = _for(value, one, joined=joined)
        if isinstance(item, exp.Alias):
            yield exp.alias_(made, item.args["alias"].copy())
        else:
            yield made if isinstance(value, exp.Columns) else exp.alias_(made, one[1].copy())


def _for(part: exp.Expr, column: tuple[str, exp.Identifier], *, joined: bool) -> exp.Expr:
    """A copy of a part of a query, with a column instead of COLUMNS(…)."""
    source, name = column
    copied = exp.paren(part.copy(), copy=False)
    for one in list(copied.find_all(exp.Columns)):
        table = exp.to_identifier(source) if joined and source else None
        one.replace(exp.column(name.copy(), table=table))
    return copied.this  # type: ignore[no-any-return]
