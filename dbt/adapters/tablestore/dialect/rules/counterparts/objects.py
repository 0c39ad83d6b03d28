"""JSON objects that are changed: members that are set, left out or kept; JSON arrays, and kinds of JSON.

JSON is text here; its members are variants.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.counterparts.arrays import texts_of_array
from dbt.adapters.tablestore.dialect.rules.counterparts.filling import filled
from dbt.adapters.tablestore.dialect.rules.json_parts import (
    built,
    call,
    is_part,
    json_of_any,
    variant_of,
    with_nulls,
)

_Given = Sequence[exp.Expr]
_MEMBERS: Final = "MAP<STRING, VARIANT>"
_IS_KIND: Final = "substring_index(schema_of_variant(:a), '<', 1) IN ({})"
_OF_PATH: Final = re.compile(r"""\$\.(?:"([^"]+)"|([A-Za-z_][\w-]*))""")


def _insert(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """OBJECT_INSERT(object, key, value, update): without a null key; a null value removes a member; and
    an error where the key is there already."""
    if len(given) not in (3, 4):
        return None
    of, key, value, flag = *given[:3], given[3] if len(given) > 3 else exp.false()
    if not isinstance(flag, exp.Boolean):
        raise Untranslatable("OBJECT_INSERT with a computed update flag")
    made = _with(of, key, _variant(value), replacing=bool(flag.this))
    if not isinstance(value, exp.Literal):
        kept = _filtered(of, [key], kept=False) if flag.this else of.copy()
        made = call("IF", _is_absent(variant_of(value) if is_part(value) else value), kept, made)
    return made if isinstance(key, exp.Literal) else call("IF", _is_absent(key), of.copy(), made)


def _is_absent(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=exp.paren(value.copy()), expression=exp.Null())


def _delete(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """OBJECT_DELETE(object, key, …)."""
    return _filtered(given[0], given[1:], kept=False) if len(given) > 1 else None


def _pick(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """OBJECT_PICK(object, key, …), or one with an array of keys."""
    return _filtered(given[0], given[1:], kept=True) if len(given) > 1 else None


def _set_by_path(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """BigQuery's JSON_SET(j, '$.key', value)."""
    if len(given) != 3:
        raise Untranslatable("JSON_SET of several paths (write one JSON_SET around the other)")
    return _with(given[0], _key_of(given[1], "JSON_SET"), _variant(given[2]), replacing=True)


def _remove_by_path(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """BigQuery's JSON_REMOVE(j, '$.key', …)."""
    return _filtered(given[0], [_key_of(one, "JSON_REMOVE") for one in given[1:]], kept=False)


def _key_of(path: exp.Expr, name: str) -> exp.Expr:
    found = _OF_PATH.fullmatch(path.name) if isinstance(path, exp.Literal) else None
    if found is None:
        raise Untranslatable(f"{name} with a path that is not one key, as in '$.key'")
    return exp.Literal.string(found[1] or found[2])


def _set_by_keys(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """Postgres' JSONB_SET(j, '{a,b}', value, create)."""
    if len(given) not in (3, 4):
        return None
    path, flag = given[1], given[3] if len(given) > 3 else exp.true()
    keys = [one or "" for one in texts_of_array(path.name) or ()] if path.is_string else []
    if not keys or any(not one or one.lstrip("-").isdigit() for one in keys) or not isinstance(flag, exp.Boolean):
        raise Untranslatable("JSONB_SET with a computed path, or one of an array's element")
    value = variant_of(given[2])
    made = _at_keys(given[0], keys, value, creating=bool(flag.this))
    constant = given[2].find(exp.Column, exp.Identifier, exp.Null, exp.Func) is None
    return made if constant else call("IF", _is_absent(value), exp.Null(), made)


def _at_keys(of: exp.Expr, keys: Sequence[str], value: exp.Expr, *, creating: bool) -> exp.Expr:
    """An object with a member at a path. What is no object on the path stays as it is."""
    key = exp.Literal.string(keys[0])
    if len(keys) > 1:
        here = call("VARIANT_GET", call("TRY_PARSE_JSON", of.copy()), exp.Literal.string(f"${step_of(keys[0])}"))
        inner = _at_keys(call("TO_JSON", here.copy()), keys[1:], value, creating=creating)
        value = call("COALESCE", call("TRY_PARSE_JSON", inner), here)
    made = _with(of, key, value, replacing=True)
    if len(keys) == 1 and creating:
        return made
    held = call("COALESCE", call("ARRAY_CONTAINS", call("JSON_OBJECT_KEYS", of.copy()), key.copy()), exp.false())
    return call("IF", held, made, of.copy())


def step_of(key: str) -> str:
    """A step of a path into JSON: by a key, or by a number."""
    if key.isdigit():
        return f"[{key}]"
    if not any(one in key for one in ".["):
        return f".{key}"
    if any(one in key for one in "'?"):
        raise Untranslatable(f"the key {key} of JSON")
    return f"['{key}']"


def _keys(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """BigQuery's JSON_KEYS of the first level, in the order of the keys."""
    depth = given[1] if len(given) == 2 else None
    if not isinstance(depth, exp.Literal) or depth.name != "1":
        raise Untranslatable("JSON_KEYS of all levels (write JSON_KEYS(j, 1) for the keys of the first)")
    return call("ARRAY_SORT", call("JSON_OBJECT_KEYS", given[0]))


def _with(of: exp.Expr, key: exp.Expr, value: exp.Expr, *, replacing: bool) -> exp.Expr:
    """An object with a member more. Spark refuses a key that is there already."""
    members = _members(of)
    if replacing:
        other = exp.NEQ(this=exp.column("_k"), expression=exp.paren(key.copy()))
        members = call("MAP_FILTER", members, _of_member(other))
    return call("TO_JSON", call("MAP_CONCAT", members, call("MAP", key.copy(), value)))


def _filtered(of: exp.Expr, keys: _Given, *, kept: bool) -> exp.Expr:
    if len(keys) == 1 and isinstance(keys[0].unnest(), exp.Array):
        keys = keys[0].unnest().expressions
    test: exp.Expr = exp.In(this=exp.column("_k"), expressions=[one.copy() for one in keys])
    return call("TO_JSON", call("MAP_FILTER", _members(of), _of_member(test if kept else exp.Not(this=test))))


def _members(of: exp.Expr) -> exp.Expr:
    return call("FROM_JSON", of.copy(), exp.Literal.string(_MEMBERS))


def _of_member(test: exp.Expr) -> exp.Expr:
    return exp.Lambda(this=test, expressions=[exp.to_identifier("_k"), exp.to_identifier("_v")])


def _variant(value: exp.Expr) -> exp.Expr:
    """The value of a member: JSON as what it is."""
    inner = value.unnest()
    if isinstance(inner, exp.Anonymous) and inner.name == "TO_JSON":
        return variant_of(inner)
    return variant_of(value) if is_part(value) else exp.cast(value.copy(), "variant")


def _array(given: _Given, node: exp.Expr) -> exp.Expr:
    """JSON_ARRAY(a, b, …), with its nulls."""
    return call("TO_JSON", call("ARRAY", *(_variant(one) for one in given)))


def _any(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """Postgres' TO_JSONB, null of a null."""
    if len(given) != 1:
        return None
    if is_part(given[0]):
        return given[0]
    made = json_of_any(given[0])
    made = made if isinstance(given[0], exp.Literal) else call("IF", _is_absent(given[0]), exp.Null(), made)
    made.meta["json"] = True
    return made


def _without_nulls(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """JSONB_STRIP_NULLS of an object that the query builds."""
    made = given[0].unnest() if len(given) == 1 else None
    plain = isinstance(made, exp.Anonymous) and made.name == "TO_JSON"
    if made is None or not plain or any(one.name == "TRY_PARSE_JSON" for one in made.find_all(exp.Anonymous)):
        raise Untranslatable("JSONB_STRIP_NULLS of JSON that the query does not build of plain values")
    options = with_nulls()
    options.expressions[1].set("this", "true")
    return call("TO_JSON", made.expressions[0], options)


def _object(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """Redshift's OBJECT('k', v, …)."""
    return built("JSONB_BUILD_OBJECT", given)


def _is_kind(*kinds: str) -> Callable[[_Given, exp.Expr], exp.Expr | None]:
    """IS_ARRAY(v:a) and such: whether JSON is of a kind."""

    def make(given: _Given, node: exp.Expr) -> exp.Expr | None:
        if len(given) != 1:
            return None
        return filled(_IS_KIND.format(", ".join(f"'{one}'" for one in kinds)), [variant_of(given[0])])

    return make


def _taken_as(kind: str, *kinds: str) -> Callable[[_Given, exp.Expr], exp.Expr | None]:
    """AS_INTEGER(v:a) and such: the value where JSON is of a kind, else null."""

    def make(given: _Given, node: exp.Expr) -> exp.Expr | None:
        test = _is_kind(*kinds)(given, node)
        if test is None:
            return None
        value = call("VARIANT_GET", variant_of(given[0]), exp.Literal.string("$"), exp.Literal.string(kind))
        return call("IF", test, value, exp.Null())

    return make


MAKERS: Final[Mapping[str, Mapping[str, Callable[[_Given, exp.Expr], exp.Expr | None]]]] = {
    "snowflake": {
        "OBJECT_INSERT": _insert,
        "OBJECT_DELETE": _delete,
        "OBJECT_PICK": _pick,
        "IS_ARRAY": _is_kind("ARRAY"),
        "IS_OBJECT": _is_kind("OBJECT"),
        "IS_BOOLEAN": _is_kind("BOOLEAN"),
        "IS_INTEGER": _is_kind("BIGINT"),
        **dict.fromkeys(("IS_VARCHAR", "IS_CHAR"), _is_kind("STRING")),
        **dict.fromkeys(("AS_VARCHAR", "AS_CHAR"), _taken_as("string", "STRING")),
        "AS_INTEGER": _taken_as("bigint", "BIGINT"),
        "AS_BOOLEAN": _taken_as("boolean", "BOOLEAN"),
    },
    "bigquery": {
        "JSON_SET": _set_by_path,
        "JSON_REMOVE": _remove_by_path,
        "J_S_O_N_KEYS_AT_DEPTH": _keys,
        "J_S_O_N_ARRAY": _array,
    },
    "postgres": {
        **dict.fromkeys(("TO_JSON", "TO_JSONB"), _any),
        "JSONB_SET": _set_by_keys,
        **dict.fromkeys(("JSONB_STRIP_NULLS", "JSON_STRIP_NULLS"), _without_nulls),
        "ARRAY_TO_JSON": lambda given, node: call("TO_JSON", given[0], with_nulls()) if len(given) == 1 else None,
        **dict.fromkeys(("JSONB_BUILD_ARRAY", "JSON_BUILD_ARRAY"), _array),
    },
    "redshift": {"OBJECT": _object, "IS_ARRAY": _is_kind("ARRAY"), "IS_OBJECT": _is_kind("OBJECT")},
    "duckdb": {"J_S_O_N_ARRAY": _array},
}
