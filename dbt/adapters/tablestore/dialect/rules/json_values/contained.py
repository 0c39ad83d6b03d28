"""Whether JSON has all parts of a constant value, as Postgres' `@>` asks: tests on variants, as Spark's texts.

An object has the members, each of which has its parts; an array has all elements, in any order; an array has a scalar
that is one of its elements, but only at the top.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any, Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable

_NUMBER: Final = "DECIMAL(38, 10)"
_MOST: Final = Decimal(10**28)
_LAST: Final = Decimal(1).scaleb(-10)


def holds(at: str, value: Any, level: int = 0) -> str:
    """A test whether the variant `at` has the parts of a value; it may be null for no."""
    if isinstance(value, dict):
        members = [holds(f"try_variant_get({at}, {_step(key)}, 'variant')", one, level) for key, one in value.items()]
        return _all(members) or f"schema_of_variant({at}) LIKE 'OBJECT%'"
    if isinstance(value, list):
        return _all([scalar_in(at, one, level) for one in value]) or f"schema_of_variant({at}) LIKE 'ARRAY%'"
    if value is None:
        return f"is_variant_null({at})"
    if isinstance(value, bool):
        return f"(schema_of_variant({at}) = 'BOOLEAN' AND CAST({at} AS STRING) = '{str(value).lower()}')"
    if type(value) is str:
        return f"(schema_of_variant({at}) = 'STRING' AND CAST({at} AS STRING) = {_quoted(value)})"
    if not _fits(value):
        raise Untranslatable(
            f"the number {value} of JSON in @> (28 digits before the point and 10 behind it are the most)"
        )
    number = f"CAST('{value}' AS {_NUMBER})"
    kinds = f"schema_of_variant({at}) NOT IN ('STRING', 'BOOLEAN')"
    return f"({kinds} AND try_variant_get({at}, '$', '{_NUMBER.lower()}') = {number})"


def scalar_in(at: str, value: Any, level: int = 0) -> str:
    """A test whether an element of the array `at` has the parts of a value."""
    element = f"_e{level}"
    test = holds(element, value, level + 1)
    return f"size(filter(try_variant_get({at}, '$', 'array<variant>'), {element} -> {test})) > 0"


def _fits(number: str) -> bool:
    value = Decimal(number)
    return abs(value) < _MOST and value == value.quantize(_LAST, context=Context(prec=60))


def _all(tests: list[str]) -> str:
    return f"({' AND '.join(tests)})" if tests else ""


def _step(key: str) -> str:
    if any(one in key for one in "'\\]"):
        raise Untranslatable(f"the key {key} of JSON")
    return _quoted(f"$['{key}']")


def _quoted(text: str) -> str:
    return exp.Literal.string(text).sql("spark")
