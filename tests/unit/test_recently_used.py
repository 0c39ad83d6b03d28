"""The map that drops what was not used for longest, against a naive list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablestore_engine.recently_used import RecentlyUsed

STEPS = st.lists(st.tuples(st.sampled_from(["put", "get", "drop"]), st.integers(0, 5), st.integers(0, 4)), max_size=30)


@given(STEPS, st.integers(0, 8))
def test_the_least_recently_used_are_dropped(steps, most):
    values, naive = RecentlyUsed(most, lambda value: value), []
    for step, key, value in steps:
        before = dict(naive)
        if step == "get":
            assert values.get(key) == before.get(key)
            naive = [*(one for one in naive if one[0] != key), *((k, v) for k, v in naive if k == key)]
        else:
            naive = [one for one in naive if one[0] != key]
        if step == "drop":
            assert values.drop(key) == before.get(key)
        elif step == "put":
            naive.append((key, value))
            dropped = []
            while sum(size for _, size in naive) > most:
                dropped.append(naive.pop(0)[1])
            assert values.put(key, value) == dropped
        assert values.items() == naive
        assert all((key in values) == (key in dict(naive)) for key in range(6))


def test_none_is_a_value_and_a_missing_key_is_an_error():
    values = RecentlyUsed(2)
    values.put("a", None)
    assert values["a"] is None
    with pytest.raises(KeyError):
        values["b"]
    values.clear()
    assert values.items() == []
