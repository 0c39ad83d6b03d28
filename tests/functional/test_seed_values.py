"""Values of seeds, in the types that a project declares."""

from __future__ import annotations

import pytest
from dbt.tests.util import relation_from_name, run_dbt
from support.dbt_models import rows


class TestSeedValues:
    @pytest.fixture(scope="class")
    def seeds(self):
        return {
            "exact.csv": "big,text,amount,at,flag\n"
            '1152921504606846977,"it\'s ""quoted""; \\n",12345678901234567890.123456,2024-01-02T03:04:05.678901,true\n'
            ",,,,\n",
            "exact.yml": "seeds: [{name: exact, config: {column_types: {amount: 'decimal(38,6)'}}}]",
            "foreign_types.csv": "number,f8,i8,tz,vc,flag,f\n1.1234567,2.5,3,2024-01-02 03:04:05,007,true,38.89\n",
            "old_days.csv": "id,da,at\n1,1582-10-08,1582-10-08T01:02:03\n2,1582-10-10,1582-10-10T01:02:03\n",
            "foreign_types.yml": """
seeds:
  - name: foreign_types
    config:
      column_types: {
        number: numeric, f8: double precision, i8: INT8, tz: timestamptz, vc: varchar, flag: bool, f: float}
""",
        }

    def test_days_that_java_s_older_calendar_lacks(self, project):
        run_dbt(["seed", "--select", "old_days"])
        for condition, found in (("da = date'1582-10-10'", [(2,)]), ("da < date'1582-10-10'", [(1,)]),
                                 ("at in (timestamp'1582-10-10 01:02:03')", [(2,)])):  # fmt: skip
            query = f"select id from {relation_from_name(project.adapter, 'old_days')} where {condition}"
            assert [tuple(one) for one in project.run_sql(query, fetch="all")] == found, condition

    def test_values_are_loaded_unchanged(self, project):
        results = {one.node.name: one for one in run_dbt(["seed"])}
        assert results["exact"].message == "INSERT 2 rows"
        assert results["exact"].adapter_response["rows_affected"] == 2
        values = rows(project, "exact", "big, text, cast(amount as string), cast(at as string), flag", "1 desc")
        foreign = relation_from_name(project.adapter, "foreign_types")
        assert {one.name: one.dtype for one in project.adapter.get_columns_in_relation(foreign)} == {
            "number": "decimal(38,7)", "f8": "double", "i8": "bigint", "tz": "timestamp", "vc": "string",
            "flag": "boolean",
            "f": "double",
        }  # fmt: skip
        assert rows(project, "foreign_types", "cast(number as string), f8, i8, cast(tz as string), vc, flag, f") == [
            ("1.1234567", 2.5, 3, "2024-01-02 03:04:05", "007", True, 38.89),
        ]
        assert values == [
            (
                2**60 + 1,
                'it\'s "quoted"; \\n',
                "12345678901234567890.123456",
                "2024-01-02 03:04:05.678901",
                True,
            ),
            (None,) * 5,
        ]
