"""The schema with which an append table becomes a multiset."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.tables import schema_of

from tablestore_engine.schema.table.multiset_schema import with_retractions

SCHEMA = replace(schema_of({"v": "INT"}, options={"retractions": "auto"}), id=3)


@pytest.mark.parametrize(
    ("newest", "base_before", "base"),
    [
        pytest.param(3, None, None, id="made from the version before it"),
        pytest.param(5, None, 3, id="made from one before the newest"),
        pytest.param(3, 1, 3, id="made from one that may be void"),
    ],
)
def test_a_version_says_what_it_was_made_from(newest, base_before, base):
    made = with_retractions(replace(SCHEMA, base=base_before), newest, 77)
    assert (made.id, made.base, made.time_millis) == (newest + 1, base, 77)
    assert made.merge_engine.rules.is_multiset
    assert made.options["retractions"] == "auto"
    assert made.fields == SCHEMA.fields
