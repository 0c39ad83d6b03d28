"""Aggregate functions one record at a time, as their definitions say them: what kernels and Spark SQL are compared
with.

A record of a column is `(back, value)`; `back` says that the value is taken back.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from support import naive_sketches as sketches

RETRACTABLE = (
    "sum",
    "count",
    "product",
    "last_value",
    "last_non_null_value",
    "collect",
    "merge_map",
    "nested_update",
)
"""Functions that can take a value back."""


def fold(function, options, records):
    """The value that some records make, in order."""
    if function == "first_value":
        return records[0][1] if records else None
    state = None
    for back, value in records:
        state = step(function, options, state, back, value)
    return state


def step(function, options, state, back, value):
    """The next state; None is that of no record."""
    if back:
        return _retract(function, options, state, value)
    if function == "last_value":
        return value
    if function == "count":
        return (state or 0) + (value is not None)
    if value is None:
        return state
    if function in ("listagg", "nested_update") or (function == "collect" and options.get("distinct")):
        return _WHOLE[function](options, state, value)
    return value if state is None else _JOIN[function](options, state, value)


def _retract(function, options, state, value):
    if function == "last_value":
        return None
    if function == "count":
        return (state or 0) - (value is not None)
    if value is None:
        return state
    if function == "sum":
        return (state or type(value)(0)) - value
    if function == "last_non_null_value" or state is None:
        return None
    if function == "product":
        if isinstance(value, Decimal):
            return (state / value).quantize(Decimal(1).scaleb(value.as_tuple().exponent), ROUND_HALF_UP)
        return int(state / value)
    if function == "collect":
        left = list(state)
        for one in value:
            if one in left:
                left.remove(one)
        return left
    if function == "merge_map":
        return {key: one for key, one in state.items() if key not in value}
    keys = _nested_keys(options)
    removed = [_key(row, keys) for row in value if row is not None]
    return [row for row in state if _key(row, keys) not in removed]


def _listagg(options, state, text):
    if not text.strip():
        return state
    if state is None:
        return text
    if not options.get("distinct"):
        return state + ";" + text
    tokens = state.split(";")
    for token in text.split(";"):
        if token.strip() and token not in tokens:
            tokens.append(token)
    return ";".join(tokens)


def _distinct(_options, state, values):
    return list(dict.fromkeys([*(state or []), *values]))


def _nested_update(options, state, rows):
    state, keys = list(state or []), options.get("nested-key", "").split(",")
    for row in rows:
        if row is None:
            continue
        if keys != [""]:
            state = [one for one in state if _key(one, keys) != _key(row, keys)]
        state.append(row)
    return state


def _nested_keys(options):
    return options["nested-key"].split(",") if options.get("nested-key") else None


def _key(row, keys):
    return row if keys is None else [row[name] for name in keys]


_WHOLE = {"listagg": _listagg, "collect": _distinct, "nested_update": _nested_update}
_JOIN = {
    "sum": lambda _, a, b: a + b,
    "product": lambda _, a, b: a * b if not isinstance(b, Decimal) else (a * b).quantize(b, ROUND_HALF_UP),
    "max": lambda _, a, b: max(a, b),
    "min": lambda _, a, b: min(a, b),
    "last_non_null_value": lambda _, _a, b: b,
    "first_non_null_value": lambda _, a, _b: a,
    "bool_and": lambda _, a, b: a and b,
    "bool_or": lambda _, a, b: a or b,
    "collect": lambda _, a, b: [*a, *b],
    "merge_map": lambda _, a, b: {**a, **b},
    "hll_sketch": lambda _, a, b: sketches.hll_union(a, b),
    "theta_sketch": lambda _, a, b: sketches.theta_union(a, b),
}


def not_before(new, old):
    """Whether a sequence comes at or after another one, column by column; nulls come before all."""
    for a, b in zip(new, old, strict=True):
        if a == b:
            continue
        if a is None or b is None:
            return b is None
        return a > b
    return True


def in_time(given, row, sequence):
    """Whether a record has a sequence, and one that is not too late for a row."""
    new = [given[name] for name in sequence]
    return any(value is not None for value in new) and not_before(new, [row[name] for name in sequence])
