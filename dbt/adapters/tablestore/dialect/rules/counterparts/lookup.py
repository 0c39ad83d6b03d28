"""The counterpart of one function: built from its arguments, or by a text of Spark's."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.clauses import of_distinct
from dbt.adapters.tablestore.dialect.rules.counterparts.composed import composed
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import MARK, filled
from dbt.adapters.tablestore.dialect.rules.counterparts.templates import REASONS, TEMPLATES


def counterpart(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The expression of Spark's that a function is; None for one that is not known here. Raises Untranslatable."""
    if isinstance(node.parent, exp.Dot) and node.arg_key == "expression":
        return None  # a function of a schema
    name, given = called(node)
    if len(given) == 1 and isinstance(given[0], exp.Distinct):
        made = _made(name, given[0].expressions, node, dialect)
        return None if made is None else of_distinct(made, name)
    return _made(name, given, node, dialect)


def _made(name: str, given: list[exp.Expr], node: exp.Expr, dialect: str) -> exp.Expr | None:
    made = composed(name, given, node, dialect)
    if made is not None:
        return made
    reason = REASONS.get((dialect, name))
    if reason is not None:
        raise Untranslatable(reason)
    text = _text(TEMPLATES.get(dialect, {}).get(name, ()), len(given))
    return filled(text, given) if text else None


def called(node: exp.Expr) -> tuple[str, list[exp.Expr]]:
    """The name and the arguments of a function."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper(), list(node.expressions)
    given: list[exp.Expr] = []
    for key in node.arg_types:
        value = node.args.get(key)
        given += [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, exp.Expr)]
    return (node.sql_name() if isinstance(node, exp.Func) else ""), given


def _text(texts: str | tuple[str, ...], count: int) -> str | None:
    """The text for a number of arguments."""
    if isinstance(texts, str):
        return texts if len(set(MARK.findall(texts))) == count else None
    return texts[count - 1] if 0 < count <= len(texts) else None
