"""What hints say to write instead is what Spark understands."""

from __future__ import annotations

from tablestore_engine.spark.errors.error_hints import INSTEAD_OF_FUNCTIONS, error_hint

_VALUES = {"list_contains": "'x'", "to_json_string": "map('a', 1)"}
_COLUMNS = (
    "'2024-01-01' AS text, {value} AS value, current_timestamp() AS time, current_date() AS date,"
    " array('1', 'x') AS array, 4 AS a, 2 AS b, true AS condition, current_date() AS begin,"
    " current_date() AS end, 'x' AS part, 'x' AS pattern"
)


def test_functions_of_other_warehouses(store):
    unknown = []
    for name, instead in INSTEAD_OF_FUNCTIONS.items():
        columns = _COLUMNS.format(value=_VALUES.get(name, "1"))
        assert store.spark.sql(f"SELECT {instead} FROM (SELECT {columns})").columns, instead
        try:
            _ = store.spark.sql(f"SELECT {name}(1)").columns
        except Exception as error:
            if error_hint(str(error)) is None:
                unknown.append((name, str(error)))
    assert not unknown
