"""Values that are taken as JSON: operands of its operators, and arguments of the functions that make JSON of Postgres.

Of COALESCE and CASE there, each branch is JSON: a part that a path took must be in quotes, if it is a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.rules.json_parts import call, is_part, variant_of

_TAKING: Final = frozenset(
    ["JSONB_AGG", "JSON_AGG", "JSONB_OBJECT_AGG", "JSON_OBJECT_AGG", "JSONB_BUILD_OBJECT", "JSON_BUILD_OBJECT",
     "JSONB_BUILD_ARRAY", "JSON_BUILD_ARRAY"]
)  # fmt: skip
_TAKING_KINDS: Final = (exp.JSONArrayAgg, exp.JSONObjectAgg, exp.JSONBObjectAgg)
_MAKING: Final = frozenset(
    [*_TAKING, "JSONB_SET", "JSONB_EXTRACT_PATH", "JSONB_STRIP_NULLS", "TO_JSONB", "TO_JSON", "ROW_TO_JSON"]
)
_PARTS: Final = (exp.JSONExtract, exp.JSONBExtract)


def branches(value: exp.Expr) -> Iterator[exp.Expr]:
    """The values of which one is the value: those of COALESCE and CASE, else itself."""
    value = value.unnest()
    for one in _chosen(value):
        yield from branches(one)
    if not is_choice(value):
        yield value


def is_choice(value: exp.Expr) -> bool:
    """Whether a value is one of several."""
    return isinstance(value, (exp.Coalesce, exp.Case))


def _chosen(value: exp.Expr) -> list[exp.Expr]:
    if isinstance(value, exp.Coalesce):
        return [value.this, *value.expressions]
    if isinstance(value, exp.Case):
        default = value.args.get("default")
        return [*(one.args["true"] for one in value.args["ifs"]), *([default] if default is not None else [])]
    return []


def taken_values(tree: exp.Expr) -> Iterator[exp.Expr]:
    """The arguments of functions that make JSON."""
    for node in tree.find_all(exp.Anonymous, *_TAKING_KINDS):
        if isinstance(node, exp.Anonymous) and node.name.upper() not in _TAKING:
            continue
        for one in node.iter_expressions():
            item = one.this if isinstance(one, exp.Order) else one
            yield item.expressions[0] if isinstance(item, exp.Distinct) else item


def gives_json(value: exp.Expr) -> bool:
    """Whether a value of Postgres is surely JSON."""
    return any(map(_gives, branches(value)))


def _gives(value: exp.Expr) -> bool:
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("json", "jsonb"))
    if isinstance(value, exp.Anonymous):
        return value.name.upper() in _MAKING
    return isinstance(value, (*_PARTS, *_TAKING_KINDS, exp.ParseJSON)) or bool(value.meta.get("json"))


def gives_part(value: exp.Expr) -> bool:
    """Whether a value may be a part that a path takes from JSON, whose text is without quotes."""
    return any(isinstance(one, _PARTS) for one in branches(value))


def json_text(value: exp.Expr) -> exp.Expr:
    """JSON as a text, in which a text is in quotes; what a path takes from JSON has none."""
    inner = value.unnest()
    taken = isinstance(inner, exp.JSONExtract) or (isinstance(inner, exp.Anonymous) and inner.name == "GET_JSON_OBJECT")
    return call("TO_JSON", variant_of(inner)) if taken and is_part(inner) else value


def of_choice(node: exp.Expr) -> exp.Expr:
    """COALESCE or CASE, whose branches are JSON texts."""
    for one in _chosen(node):
        one.replace(json_text(one))
    node.meta["json"] = True
    return node
