"""What the default suite leaves to `make soak`: more examples, and the cases of a product that are beyond its cover.

A test with the mark `cover` has parameters of several axes. Its *cover* is a choice of its cases in which each value of
each axis occurs or, of three axes and more, each pair of values. The other cases have the mark `soak`.

With the mark `cover("target")` on a module, each of its tests runs with one of the kinds that the fixture `target` has,
in turn. `make soak` runs it with the others.
"""

from __future__ import annotations

import os
from itertools import combinations

import pytest

SOAK = int(os.environ.get("TABLESTORE_SOAK", "0"))
"""How many examples each property has in `make soak`; 0 elsewhere."""


def examples(usual):
    """How many examples a property has, which are so many in the default suite."""
    return SOAK or usual


def seeds(usual, most):
    """The seeds of random games as cases of a test, of which so many are in the default suite."""
    return [pytest.param(seed, marks=pytest.mark.soak if seed >= usual else ()) for seed in range(most)]


def axes(cases):
    """The columns of the cases, as numbers of values, without those whose value another column determines."""
    found = {}
    for column in zip(*cases, strict=True):
        numbers = {value: number for number, value in enumerate(dict.fromkeys(column))}
        found[tuple(numbers[value] for value in column)] = len(numbers)
    return [one for one in found if not any(_determines(other, one) for other in found if other != one)]


def _determines(one, other):
    return len(set(zip(one, other, strict=True))) == len(set(one))


def cover(cases):
    """The numbers of the chosen cases: again and again the one with the most that no case before it has.

    Of several, it is the one whose values were chosen least often, and of these the first.
    """
    columns = axes(cases)
    together = 2 if len(columns) > 2 else 1
    parts = [
        {(chosen, tuple(one[number] for one in chosen)) for chosen in combinations(columns, together)}
        for number in range(len(cases))
    ]
    left, found, used = set().union(*parts), [], {}
    while left:
        best = max(
            range(len(cases)),
            key=lambda number: (len(parts[number] & left), -sum(used.get(part, 0) for part in parts[number]), -number),
        )
        found.append(best)
        left -= parts[best]
        for part in parts[best]:
            used[part] = used.get(part, 0) + 1
    return found


def mark_soak(items):
    """Marks the cases of tests with the mark `cover` that are beyond it."""
    tests = {}
    for item in items:
        mark, case = item.get_closest_marker("cover"), getattr(item, "callspec", None)
        if mark and case and set(mark.args) <= set(case.params):
            of = (item.path, *mark.args) if mark.args else item.nodeid.partition("[")[0]
            tests.setdefault(of, []).append((item, *mark.args))
    for found in tests.values():
        chosen = cover([_case(*one) for one in found])
        for number, (item, *_) in enumerate(found):
            if number not in chosen:
                item.add_marker(pytest.mark.soak)


def _case(item, kinds=None):
    """The values of a case; of a test that the fixture `kinds` gives several kinds of tables, all else and the kind."""
    params = {name: repr(value) for name, value in sorted(item.callspec.params.items())}
    if kinds is None:
        return tuple(params.values())
    kind = params.pop(kinds)
    return repr((item.nodeid.partition("[")[0], params)), kind
