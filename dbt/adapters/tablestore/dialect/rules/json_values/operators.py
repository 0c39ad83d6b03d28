"""Operators of Postgres' JSON: `||`, `-`, `@>` and `<@`. Texts and arrays have the same ones with another meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.json_values.contained import holds, scalar_in
from dbt.adapters.tablestore.dialect.rules.json_values.given import (
    branches,
    gives_json,
    is_choice,
    json_text,
    of_choice,
    taken_values,
)

_TEXTS: Final = (
    exp.JSONExtractScalar, exp.JSONBExtractScalar, exp.Concat, exp.Upper, exp.Lower, exp.Trim, exp.Substring,
    exp.Replace,
)  # fmt: skip
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
_WITHOUT_NONE: Final = "if(:b IS NULL, NULL, {})"
_WITHOUT_ONE: Final = _WITHOUT.format(of_key="_k <> :b", of_element="to_json(_e) <> to_json(CAST(:b AS VARIANT))")
_WITHOUT_SOME: Final = _WITHOUT.format(
    of_key="NOT array_contains(array_compact(:b), _k)",
    of_element="NOT array_contains(transform(array_compact(:b), _x -> to_json(CAST(_x AS VARIANT))), to_json(_e))",
)


def mark_operators(tree: exp.Expr, dialect: str) -> None:
    """Note at operators that they are JSON's (`of_json`), before the values are texts. Raises Untranslatable where an
    operand may be JSON or a text."""
    if dialect != "postgres":
        return
    for node in tree.find_all(*_WORDS):
        sides = (node.this, node.expression)
        if any(map(makes_json, sides)):
            node.meta["of_json"] = True
            if isinstance(node, exp.DPipe) and any(map(_is_text, sides)):
                with about(node):
                    raise Untranslatable(
                        "the operator || of JSON and a text (cast the JSON to text, or the text to jsonb)"
                    )
            for side in sides:
                _mark_choices(side)
        elif any(map(_looks_like_json, sides)):
            with about(node):
                raise Untranslatable(
                    f"the operator {_WORDS[type(node)]} of JSON or of texts (cast an operand to jsonb, or to text)"
                )

    for value in taken_values(tree):
        _mark_choices(value)


def _mark_choices(value: exp.Expr) -> None:
    """Note at COALESCE and CASE, of which a branch is JSON, that all are (`of_json`)."""
    for leaf in branches(value):
        if leaf.meta.get("json_part"):
            with about(leaf):
                raise Untranslatable(f"the part '{leaf.name}' of JSON of another query (take it from the JSON here)")
    for one in value.find_all(exp.Coalesce, exp.Case) if is_choice(value.unnest()) and gives_json(value) else ():
        if any(leaf is inner for leaf in branches(one) for inner in branches(value)):
            one.meta["of_json"] = True


def _is_text(value: exp.Expr) -> bool:
    """Whether a value is surely a text, and a literal one that is no JSON."""
    value = value.unnest()
    if value.is_string:
        return _parsed(value.name) is None
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("text", "varchar", "char"))
    if isinstance(value, exp.DPipe):
        return not makes_json(value) and (_is_text(value.this) or _is_text(value.expression))
    return isinstance(value, _TEXTS)


def _parsed(text: str) -> tuple[object] | None:
    """The value of a JSON text; None for another text."""
    try:
        return (json.loads(text),)
    except ValueError:
        return None


def makes_json(value: exp.Expr) -> bool:
    """Whether a value of Postgres is surely JSON, before its parts are changed."""
    value = value.unnest()
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("json", "jsonb"))
    if is_choice(value):
        return any(map(makes_json, branches(value)))
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
    return value.is_string and value.name[:1] in ("{", "[") and _parsed(value.name) is not None


def of_json(node: exp.Expr, dialect: str) -> exp.Expr:
    """The expression that an operator of JSON is."""
    if is_choice(node):
        return of_choice(node)
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


def _without(node: exp.Expr) -> exp.Expr:
    """An object without a key or several ones, as in j - 'k'; an array without such texts."""
    key = node.expression.unnest()
    of_text = key.is_string or (isinstance(key, exp.Cast) and key.to.is_type("text", "varchar"))
    if of_text:
        text = _WITHOUT_ONE if key.is_string else _WITHOUT_NONE.format(_WITHOUT_ONE)
        return filled(text, [json_text(node.this), node.expression])
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
        value = json.loads(constant, parse_int=_Number, parse_float=_Number, parse_constant=_refuse_constant)
    except ValueError:
        raise Untranslatable(f"'{constant}', which is no JSON") from None
    test = holds("try_parse_json(:a)", value)
    if not isinstance(value, (dict, list)):
        test = f"{test} OR {scalar_in('try_parse_json(:a)', value)}"
    return filled(f"if(:a IS NULL, NULL, coalesce({test}, FALSE))", [json_text(whole)])


def _refuse_constant(word: str) -> None:
    raise ValueError(word)  # NaN and infinities, which Python reads


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
