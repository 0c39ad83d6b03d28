"""Contracts with the names of types of other warehouses, model versions, constraints that are not enforced, grants."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture, write_file
from support.dbt_models import table_of

SCHEMA = """
models:
  - name: orders
    latest_version: 2
    config: {contract: {enforced: true}, materialized: table, grants: {select: [everyone]}}
    constraints:
      - {type: primary_key, columns: [id]}
      - {type: check, name: positive, expression: "total > 0"}
    columns:
      - {name: id, data_type: int64, constraints: [{type: not_null}]}
      - {name: label, data_type: varchar}
      - {name: total, data_type: "number(10, 2)"}
      - {name: tags, data_type: "array<text>"}
      - {name: parent, data_type: bigint, constraints: [{type: foreign_key, expression: "orders (id)"}]}
    versions:
      - v: 1
        columns: [{include: all, exclude: [tags, parent]}]
      - v: 2
"""
FIRST = "select 1::int8 as id, cast('a' as text) as label, 2.5::number(10, 2) as total"
SECOND = """select id, label, total * {factor} as total,
  array(label)::array<text> as tags, cast(null as int64) as parent
from {{{{ ref('orders', v=1) }}}}"""


class TestContracts:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders_v1.sql": FIRST,
            "orders_v2.sql": self.second("1.0::number(1)"),
            "last.sql": "select id from {{ ref('orders') }}",
            "models.yml": SCHEMA,
        }

    def second(self, factor):
        return (
            SECOND.format(factor=factor)
            .replace("total *", "(total *")
            .replace(" as total", ")::number(10, 2) as total")
        )

    def test_names_of_types_versions_and_notices(self, project):
        results, log = run_dbt_and_capture(["run"])
        assert len(results) == 3
        assert log.count("grants are ignored") == 1
        assert "foreign_key" in log
        table = table_of(project, "orders_v2")
        assert table.schema.primary_keys == ("id",)
        assert [str(one.type) for one in table.schema.fields] == [
            "BIGINT NOT NULL", "STRING", "DECIMAL(10, 2)", "ARRAY<STRING>", "BIGINT",
        ]  # fmt: skip

    def test_a_check_holds_before_the_commit(self, project):
        write_file(self.second("-1"), project.project_root, "models", "orders_v2.sql")
        [result] = run_dbt(["run", "-s", "orders.v2"], expect_pass=False)
        assert 'check constraint "positive"' in result.message
        assert project.run_sql("select total from {schema}.orders_v2", fetch="one")[0] > 0

    def test_another_type_is_named(self, project):
        write_file(FIRST.replace("int8", "text"), project.project_root, "models", "orders_v1.sql")
        [result] = run_dbt(["run", "-s", "orders.v1"], expect_pass=False)
        assert "data type mismatch" in result.message
