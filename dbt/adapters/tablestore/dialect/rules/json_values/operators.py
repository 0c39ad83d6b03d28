"""Operators of Postgres' JSON: `||`, `-`, `@>` and `<@`. Texts and arrays have the same ones with another meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.json_parts import call, is_part, variant_of
from dbt.adapters.tablestore.dialect.rules.json_values.contained import holds, scalar_in

_WORDS: Final[Mapping[type[exp.Expr], str]] = {
    exp.DPipe: "||", exp.Sub: "-", exp.ArrayContainsAll: "@>", exp.ArrayContainedBy: "<@",
}  # fmt: skip
WITH_OPERATOR: Final = tuple(_WORDS)
"""Expressions that may be an operator of JSON."""
_MAKING: Final = frozenset(
    ["JSONB_BUILD_OBJECT", "JSONB_BUILD_ARRAY", "JSONB_SET", "JSONB_AGG", "JSONB_OBJECT_AGG", "JSONB_EXTRACT_PATH",
     "JSONB_STRIP_NULLS", "TO_JSONB"]
)  # fmt: skip
_MEMBERS: Final = "from_json({0}, 'MAP<STRING, VARIANT>')"
_ELEMENTS: Final = "from_json({0}, 'ARRAY<VARIANT>')"
_LISTED: Final = f"coalesce({_ELEMENTS}, array(try_parse_json({{0}})))"
# Of two objects all members, and the second's of a key that both have; of others an array of all elements.
_JOINED: Final = (
    "get(transform(array(named_struct('a', :a, 'b', :b)), _p -> if(_p.a IS NULL OR _p.b IS NULL, NULL, "
    f"coalesce(to_json(map_concat(map_filter({_MEMBERS.format('_p.a')}, "
    "(_k, _v) -> NOT array_contains(json_object_keys(_p.b), _k)), "
    f"{_MEMBERS.format('_p.b')})), to_json(concat({_LISTED.format('_p.a')}, {_LISTED.format('_p.b')}))))), 0)"
)
_WITHOUT: Final = (
    "get(transform(array(:a), _j -> coalesce("
    f"to_json(map_filter({_MEMBERS.format('_j')}, (_k, _v) -> {{of_key}})), "
    f"to_json(filter({_ELEMENTS.format('_j')}, _e -> {{of_element}})))), 0)"
)
_WITHOUT_ONE: Final = _WITHOUT.format(of_key="_k <> :b", of_element="to_json(_e) <> to_json(CAST(:b AS VARIANT))")
_WITHOUT_SOME: Final = _WITHOUT.format(
    of_key="NOT array_contains(:b, _k)",
    of_element="NOT array_contains(transform(:b, _x -> to_json(CAST(_x AS VARIANT))), to_json(_e))",
)


def mark_operators(tree: exp.Expr, dialect: str) -> None:
    """Note at operators that they are JSON's (`of_json`), before the values are texts. Raises Untranslatable where an
    operand may be JSON or a text."""
    for node in tree.find_all(*_WORDS) if dialect == "postgres" else ():
        sides = (node.this, node.expression)
        if any(map(makes_json, sides)):
            node.meta["of_json"] = True
        elif any(map(_looks_like_json, sides)):
            with about(node):
                raise Untranslatable(
                    f"the operator {_WORDS[type(node)]} of JSON or of texts (cast an operand to jsonb, or to text)"
                )


def makes_json(value: exp.Expr) -> bool:
    """Whether a value of Postgres is surely JSON, before its parts are changed."""
    value = value.unnest()
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("json", "jsonb"))
    if isinstance(value, exp.Coalesce):
        return any(map(makes_json, (value.this, *value.expressions)))
    if isinstance(value, exp.DPipe):
        return makes_json(value.this) or makes_json(value.expression)
    if isinstance(value, exp.Sub):
        return makes_json(value.this)
    if isinstance(value, exp.Anonymous):
        return value.name.upper() in _MAKING
    known = isinstance(value, (exp.JSONExtract, exp.JSONBExtract, exp.JSONBObjectAgg, exp.ParseJSON))
    return known or bool(value.meta.get("json"))


def _looks_like_json(value: exp.Expr) -> bool:
    value = value.unnest()
    if not value.is_string or value.name[:1] not in ("{", "["):
        return False
    try:
        json.loads(value.name)
    except ValueError:
        return False
    return True


def of_json(node: exp.Expr, dialect: str) -> exp.Expr:
    """The expression that an operator of JSON is."""
    if isinstance(node, exp.DPipe):
        made = filled(_JOINED, [json_text(node.this), json_text(node.expression)])
    elif isinstance(node, exp.Sub):
        made = _without(node)
    else:
        sides = (node.this, node.expression)
        whole, part = sides if isinstance(node, exp.ArrayContainsAll) else sides[::-1]
        return _containing(whole, part)
    made.meta["json"] = True
    return made


def json_text(value: exp.Expr) -> exp.Expr:
    """JSON as a text, in which a text is in quotes; what a path takes from JSON has none."""
    inner = value.unnest()
    taken = isinstance(inner, exp.JSONExtract) or (isinstance(inner, exp.Anonymous) and inner.name == "GET_JSON_OBJECT")
    return call("TO_JSON", variant_of(inner)) if taken and is_part(inner) else value


def _without(node: exp.Expr) -> exp.Expr:
    """An object without a key or several ones, as in j - 'k'; an array without such texts."""
    key = node.expression.unnest()
    of_text = key.is_string or (isinstance(key, exp.Cast) and key.to.is_type("text", "varchar"))
    if of_text:
        return filled(_WITHOUT_ONE, [json_text(node.this), node.expression])
    listed = isinstance(key, exp.Array) or (isinstance(key, exp.Cast) and key.to.is_type("array"))
    if not listed:
        raise Untranslatable("the operator - of JSON and a value that is no text in the query (cast a key to text)")
    return filled(_WITHOUT_SOME, [json_text(node.this), node.expression])


def _containing(whole: exp.Expr, part: exp.Expr) -> exp.Expr:
    """Whether JSON has all parts of constant JSON, as in j @> '{"k": 1}'."""
    constant = next(_constants(part), None)
    if constant is None:
        raise Untranslatable("the operator @> of JSON and a computed value (compare the parts, as in j ->> 'k' = 'v')")
    try:
        value = json.loads(constant, parse_int=_Number, parse_float=_Number)
    except ValueError:
        raise Untranslatable(f"'{constant}', which is no JSON") from None
    test = holds("try_parse_json(:a)", value)
    if not isinstance(value, (dict, list)):
        test = f"{test} OR {scalar_in('try_parse_json(:a)', value)}"
    return filled(f"if(:a IS NULL, NULL, coalesce({test}, FALSE))", [json_text(whole)])


def _constants(part: exp.Expr) -> Iterator[str]:
    """The text of constant JSON, with or without a cast."""
    inner = part.unnest()
    while isinstance(inner, exp.Cast):
        inner = inner.this.unnest()
    if inner.is_string:
        yield inner.name


class _Number(str):
    """A number of JSON, as it is written."""

    __slots__ = ()
