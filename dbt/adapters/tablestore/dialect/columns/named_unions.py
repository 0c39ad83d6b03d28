"""UNION BY NAME, which Spark does not have: both sides are made to have the same columns, in the order of the first.

A column that one side lacks is null there, except in BigQuery, where both have the same ones. The names of all columns
must be known: those of `*` are, where those of the tables are.
"""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.tablestore.dialect.columns.outputs import keys_of, outputs_of
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, about


def unite_by_name(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Replace BY NAME, in inner queries first. Raises Untranslatable where the names of columns are not known."""
    for node in reversed(list(tree.find_all(exp.SetOperation))):
        if not node.args.get("by_name"):
            continue
        with about(node):
            if any(node.args.get(one) for one in ("side", "kind", "on")):
                raise Untranslatable("UNION BY NAME with FULL, LEFT, INNER or ON")
            given = [outputs_of(one, columns_of, "UNION BY NAME") for one in (node.this, node.expression)]
            pads = isinstance(node, exp.Union) and dialect != "bigquery"
            left, right = (keys_of(names) for names in given)
            if not pads and set(left) != set(right):
                alone = ", ".join(sorted(set(left) ^ set(right)))
                raise Untranslatable(f"UNION BY NAME of other columns ({alone} on one side)")
            names = [*given[0], *(one for one in given[1] if one.name.lower() not in left)]
        node.set("by_name", None)
        for key, own in zip(("this", "expression"), (left, right), strict=True):
            if own != keys_of(names):
                node.set(key, _chosen(node.args[key], own, names))


def _chosen(query: exp.Expr, own: list[str], names: list[exp.Identifier]) -> exp.Expr:
    """A query that has the columns of other names, too, as nulls."""
    columns = [
        exp.column(one.copy()) if one.name.lower() in own else exp.alias_(exp.Null(), one.copy()) for one in names
    ]
    inner = exp.Subquery(this=query.copy(), alias=exp.TableAlias(this=exp.to_identifier("_side")))
    return exp.select(*columns, copy=False).from_(inner, copy=False)
