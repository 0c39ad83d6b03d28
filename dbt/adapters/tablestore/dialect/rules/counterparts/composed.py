"""Functions whose arguments decide what they become: any number of them, keys of JSON, character sets, ages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable
from dbt.adapters.tablestore.dialect.rules.json_parts import call, is_json_text

_Given = Sequence[exp.Expr]


def composed(name: str, given: _Given, node: exp.Expr, dialect: str) -> exp.Expr | None:
    """The expression of Spark's that a function is; None for another function."""
    make = _MAKERS.get(dialect, {}).get(name)
    return None if make is None else make(given, node)


def _path(given: _Given, node: exp.Expr) -> exp.Expr:
    """JSONB_EXTRACT_PATH(j, 'a', '0')."""
    if not all(isinstance(one, exp.Literal) for one in given[1:]):
        raise Untranslatable("a computed key of JSON (write spark__get_json_object(j, concat('$.', k)))")
    steps = "".join(f"[{one.name}]" if one.name.isdigit() else f".{one.name}" for one in given[1:])
    return call("GET_JSON_OBJECT", given[0], exp.Literal.string(f"${steps}"))


def _element(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """An element of a JSON array, by its number from 0."""
    if len(given) < 2:
        return None
    number = given[1]
    if isinstance(number, exp.Literal) and number.is_int:
        path: exp.Expr = exp.Literal.string(f"$[{number.name}]")
    else:
        path = call("CONCAT", exp.Literal.string("$["), number, exp.Literal.string("]"))
    return call("GET_JSON_OBJECT", given[0], path)


def _nulls(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """NUM_NULLS(a, b, …), and NUM_NONNULLS."""
    others = node.name.upper() == "NUM_NONNULLS"
    tests = [exp.Is(this=exp.paren(one), expression=exp.Null()) for one in given]
    counts: list[exp.Expr] = [exp.cast(exp.Not(this=one) if others else one, "int") for one in tests]
    total = reduce(lambda one, other: exp.Add(this=one, expression=other), counts) if counts else None
    return None if total is None else exp.paren(total, copy=False)


def _row(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """ROW_TO_JSON(t) of a table, with its nulls."""
    table = given[0] if len(given) == 1 else None
    if not isinstance(table, exp.Column) or table.table:
        return None
    fields = exp.Column(this=exp.Star(), table=table.this.copy())
    options = (exp.Literal.string(one) for one in ("ignoreNullFields", "false"))
    return call("TO_JSON", call("STRUCT", fields), call("MAP", *options))


def _coded(name: str) -> Callable[[_Given, exp.Expr], exp.Expr | None]:
    def make(given: _Given, node: exp.Expr) -> exp.Expr | None:
        if len(given) != 2:
            return None
        charset = given[1].name.lower().replace("_", "").replace("-", "")
        if charset not in ("utf8", "unicode"):
            raise Untranslatable(f"the character set {given[1].sql()} of {node.name.upper()}")
        return call(name, given[0], exp.Literal.string("UTF-8"))

    return make


def _object(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """OBJECT_AGG(key, value): without the keys and values that are null."""
    if len(given) != 2:
        return None
    key, value = given
    if is_json_text(value):
        raise Untranslatable("OBJECT_AGG of parts of JSON without a cast")
    known = exp.and_(*(exp.Not(this=exp.Is(this=exp.paren(one), expression=exp.Null())) for one in given))
    pair = call("IF", known, call("STRUCT", key.copy(), value.copy()), exp.Null())
    return call("TO_JSON", call("MAP_FROM_ENTRIES", call("COLLECT_LIST", pair)))


def _age(given: _Given, node: exp.Expr) -> exp.Expr | None:
    """The years, or the months beyond them, of AGE(later, earlier) or AGE(earlier): whole months between the times."""
    part = node.parent
    if not isinstance(part, exp.Extract) or part.name.upper() not in ("YEAR", "MONTH") or len(given) not in (1, 2):
        return None
    later = given[0] if len(given) == 2 else call("CURRENT_DATE")
    months = call("TIMESTAMPDIFF", exp.Var(this="MONTH"), given[-1].copy(), later.copy())
    twelve = exp.Literal.number(12)
    of_part = exp.IntDiv if part.name.upper() == "YEAR" else exp.Mod
    part.replace(exp.paren(of_part(this=months, expression=twelve), copy=False))
    return node


_PATHS: Final = dict.fromkeys(
    ("JSONB_EXTRACT_PATH", "JSONB_EXTRACT_PATH_TEXT", "JSON_EXTRACT_PATH", "JSON_EXTRACT_PATH_TEXT"), _path
)
_MAKERS: Final[Mapping[str, Mapping[str, Callable[[_Given, exp.Expr], exp.Expr | None]]]] = {
    "snowflake": {"OBJECT_AGG": _object},
    "postgres": {
        **_PATHS,
        "AGE": _age,
        "CONVERT_FROM": _coded("DECODE"),
        "CONVERT_TO": _coded("ENCODE"),
        "NUM_NONNULLS": _nulls,
        "NUM_NULLS": _nulls,
        "ROW": lambda given, node: call("STRUCT", *given),
        "ROW_TO_JSON": _row,
    },
    "redshift": {"JSON_EXTRACT_ARRAY_ELEMENT_TEXT": _element},
    "duckdb": {"AGE": _age},
    "trino": {"JSON_ARRAY_GET": _element},
}
