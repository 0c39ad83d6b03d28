"""Of which sources a model's text reads changes."""

from __future__ import annotations

import pytest

from dbt.adapters.tablestore.config.changes_calls import SourceCall, calls_of_changes, unnamed_calls

REFS = [{"name": "orders"}, {"name": "lines", "package": "shop"}, {"name": "items", "version": 2}]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{% if is_incremental() %}{{ changes(ref('orders')) }}{% endif %}", [SourceCall("ref", ("orders",))]),
        ("{% set o = ref('orders') %}{{ changes(o) }}", [SourceCall("ref", ("orders",))]),
        ("{{ changes(relation=ref('orders')) }}", [SourceCall("ref", ("orders",))]),
        ("{{ changes(ref('shop', 'lines')) }}", [SourceCall("ref", ("shop", "lines"))]),
        ("{{ changes(ref('items', v=2)) }}", [SourceCall("ref", ("items",), {"v": 2})]),
        (
            "{{ changes(source('shop', 'a')) }} {{ changes(ref('orders')) }} {{ changes(source('shop', 'a')) }}",
            [SourceCall("source", ("shop", "a")), SourceCall("ref", ("orders",))],
        ),
        # The other branch names the same node with its package, or its version.
        ("{{ changes(ref('shop', 'orders', v=1)) }}", [SourceCall("ref", ("shop", "orders"), {"v": 1})]),
        ("{{ changes(ref('lines')) }}", [SourceCall("ref", ("lines",))]),
        ("{{ changes(ref('items', version=2)) }}", [SourceCall("ref", ("items",), {"version": 2})]),
        # dbt knows no dependency on it, and would refuse the call.
        ("{{ changes(ref('shop', 'others')) }} {{ changes(ref()) }}", []),
        ("{{ changes(ref(name)) }} {{ changes(orders) }} {{ changes(ref(*names)) }}", []),
        ("{# {{ changes(ref('orders')) }} #} {{ kafka_changes(source('shop', 'a')) }} {{ ref('orders') }}", []),
        ("{{ changes(ref('orders') }}", []),
    ],
)
def test_sources_that_are_named_by_constants_are_found(text, found):
    assert calls_of_changes({"raw_code": text, "refs": REFS}) == found


def test_python_models_call_no_macro():
    assert calls_of_changes({"raw_code": "changes(ref('orders'))", "refs": REFS, "language": "python"}) == []


def test_calls_that_do_not_name_their_source():
    text = "{{ changes(o) }} {{ changes(ref('orders')) }}\n{{ changes(ref(name)) }}"
    assert unnamed_calls({"raw_code": text}) == ["`changes(o)` (line 1)", "`changes(…)` (line 2)"]
    for more in ("{% set o = ref('items') %}", "{% for o in names %}{% endfor %}", "{% macro m(o) %}{% endmacro %}"):
        text = f"{{% set o = ref('orders') %}}{more}{{{{ changes(o) }}}}"
        assert unnamed_calls({"raw_code": text}) == ["`changes(o)` (line 1)"]
