from __future__ import annotations

import pytest

from dbt.adapters.tablestore.config.dialect_config import dialect_of


@pytest.mark.parametrize(
    ("config", "variables", "profile", "expected"),
    [
        ({}, {}, None, None),
        ({}, {}, "trino", "trino"),
        ({}, {"dialect": "redshift"}, "trino", "redshift"),
        ({"dialect": "duckdb"}, {"dialect": "redshift"}, "trino", "duckdb"),
        ({"dialect": "spark"}, {"dialect": "redshift"}, "trino", None),
    ],
)
def test_the_nearest_setting_counts(config, variables, profile, expected):
    assert dialect_of({"config": config}, variables, profile) == expected


def test_generic_tests_have_only_a_dialect_of_their_own():
    test = {"test_metadata": {"name": "unique"}}
    assert dialect_of({**test, "config": {}}, {"dialect": "redshift"}, "trino") is None
    assert dialect_of({**test, "config": {"dialect": "redshift"}}, {}, None) == "redshift"
