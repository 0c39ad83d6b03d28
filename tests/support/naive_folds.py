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
    "primary-key",
)
"""Functions that can take a value back."""


def fold(function, options, records, *, alone=None):
    """The value that some records make, in order; `alone` says whether they are the only one of their key."""
    if function == "first_value":
        return records[0][1] if records else None
    if (len(records) == 1 if alone is None else alone) and function != "count" and records and not records[0][0]:
        return records[0][1]
    state = None
    for back, value in records:
        state = step(function, options, state, back, value)
    return state


def step(function, options, state, back, value):
    """The next state; None is that of no record."""
    if back:
        return _retract(function, options, state, value)
    if function in ("last_value", "primary-key"):
        return value
    if function == "count":
        return (state or 0) + (value is not None)
    if value is None:
        return state
    if cleans(options):
        return _JOIN[function](options, state or [], value)
    if function == "collect" and options.get("distinct"):
        return _distinct(options, state, value)
    return value if state is None else _JOIN[function](options, state, value)


def _retract(function, options, state, value):
    if function == "last_value":
        return None
    if function == "primary-key":
        return value
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
    there = _rows_by_key(options, [row for row in state if row is not None])
    return [row for row in there if _key(row, keys) not in removed]


def step_late(function, options, state, value):
    """The next state where the record comes late for its sequence group: it is put before what is there."""
    if function in ("sum", "count", "product", "max", "min", "bool_and", "bool_or", "collect"):
        return step(function, options, state, False, value)
    if function in ("last_value", "primary-key"):
        return state
    if cleans(options) and state is None:
        return step(function, options, None, False, value)
    return step(function, options, value, False, state)


def first_non_null_in_group(records):
    """Paimon's `first_non_null_value` of a sequence group; `records` are pairs of late and value."""
    begun, state = False, None
    for late, value in records:
        new, old = (state, value) if late else (value, state)
        begun, state = (True, new) if not begun and new is not None else (begun, old)
    return state


def _listagg(options, state, text):
    if not text or not state:
        return text or state
    if not options.get("distinct"):
        return state + ";" + text
    tokens = state.split(";")
    for token in text.split(";"):
        if token and token not in tokens:
            tokens.append(token)
    return ";".join(tokens)


def _distinct(_options, state, values):
    found = []
    for one in [*(state or []), *values]:
        if one not in found:
            found.append(one)
    return found


def _nested_update(options, state, rows):
    if cleans(options):
        return _clean_update(options, state, rows)
    limit = int(options.get("count-limit", 1_000_000))
    if len(state) >= limit:
        return state
    room = limit - len(state)
    there = [one for one in state if one is not None]
    return _rows_by_key(options, there + [one for one in rows if one is not None][:room])


def cleans(options):
    """Whether nested rows are merged by their key even in a list that comes first."""
    return "nested-sequence-field" in options or options.get("nested-key-null-strategy", "merge") != "merge"


def _clean_update(options, state, rows):
    """The options of nested rows that later versions of Paimon have."""
    keys, by_key = _nested_keys(options), {}
    order = options.get("nested-sequence-field", "").split(",") if "nested-sequence-field" in options else []
    for row in [*_with_keys(options, state), *_with_keys(options, rows)]:
        at = tuple(_key(row, keys))
        if at in by_key:
            if not_before([row[name] for name in order], [by_key[at][name] for name in order]):
                by_key[at] = row
        elif len(by_key) < int(options.get("count-limit", 1_000_000)):
            by_key[at] = row
    return list(by_key.values())


def _with_keys(options, rows):
    keys = _nested_keys(options)
    ignores = options.get("nested-key-null-strategy") == "ignore"
    return [row for row in rows if row is not None and not (ignores and None in _key(row, keys))]


def _nested_partial_update(options, state, rows):
    keys, by_key = _nested_keys(options), {}
    for row in [*_with_keys(options, state), *_with_keys(options, rows)]:
        one = by_key.setdefault(tuple(_key(row, keys)), dict.fromkeys(row))
        one.update({name: value for name, value in row.items() if value is not None})
    return list(by_key.values())


def _merge_map_with_keytime(options, state, given):
    time, left = options["ts-field"], dict(state)
    for key, value in given.items():
        if value is None:
            left.pop(key, None)
        elif value[time] is not None:
            had = left.get(key)
            if had is None or had[time] is None or value[time] > had[time]:
                left[key] = value
    return left


def _rows_by_key(options, rows):
    keys = _nested_keys(options)
    if keys is None:
        return rows
    return [row for i, row in enumerate(rows) if _key(row, keys) not in [_key(one, keys) for one in rows[i + 1 :]]]


def _nested_keys(options):
    return options["nested-key"].split(",") if options.get("nested-key") else None


def _key(row, keys):
    return row if keys is None else [row[name] for name in keys]


_JOIN = {
    "listagg": _listagg,
    "nested_update": _nested_update,
    "sum": lambda _, a, b: a + b,
    "product": lambda _, a, b: a * b if not isinstance(b, Decimal) else (a * b).quantize(b, ROUND_HALF_UP),
    "max": lambda _, a, b: max(a, b),
    "min": lambda _, a, b: min(a, b),
    "last_non_null_value": lambda _, _a, b: b,
    "first_non_null_value": lambda _, a, _b: a,
    "bool_and": lambda _, a, b: a and b,
    "bool_or": lambda _, a, b: a or b,
    "collect": lambda _, a, b: [*a, *b],
    "merge_map_with_keytime": _merge_map_with_keytime,
    "nested_partial_update": _nested_partial_update,
    "primary-key": lambda _, _a, b: b,
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
