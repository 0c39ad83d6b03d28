import pytest
from dbt.tests.adapter.constraints import fixtures
from dbt.tests.adapter.constraints.test_constraints import (
    BaseConstraintQuotedColumn,
    BaseConstraintsRollback,
    BaseConstraintsRuntimeDdlEnforcement,
    BaseIncrementalConstraintsColumnsEqual,
    BaseIncrementalConstraintsRollback,
    BaseIncrementalConstraintsRuntimeDdlEnforcement,
    BaseIncrementalContractSqlHeader,
    BaseIncrementalForeignKeyConstraint,
    BaseModelConstraintsRuntimeEnforcement,
    BaseTableConstraintsColumnsEqual,
    BaseTableContractSqlHeader,
    BaseViewConstraintsColumnsEqual,
)

from tablestore_engine.schema.table.check_constraints import CheckConstraint, null_violation_sql, violation_sql

CONTRACT_SQL_HEADER = """
{{{{ config(materialized="{materialized}", on_schema_change="append_new_columns") }}}}
{{% call set_sql_header(config) %}}
set time zone 'Asia/Kolkata';
{{% endcall %}}
select current_timezone() as column_name
"""


def violated(name, condition, columns):
    return f"raise_error({violation_sql(CheckConstraint(name, condition), columns)})"


def is_null(name, columns):
    return f"coalesce(`{name}`, raise_error({null_violation_sql(name, columns)}))"


COLUMNS = ("id", "color", "date_day")
CHECKED_SQL = f"""
create or replace table <model_identifier>
  (`id`, `color` string, `date_day` string, primary key (`id`) not enforced) as
select
  if(not (id >= 1), {violated("id_check2", "id >= 1", COLUMNS)},
    if(not ((id > 0)), {violated("id_check", "(id > 0)", COLUMNS)}, {is_null("id", COLUMNS)})) as `id`,
  `color`,
  `date_day`
from (
  -- depends_on: <foreign_key_model_identifier>
  select 'blue' as color, 1 as id, '2019-01-01' as date_day
) as model_subq
"""

QUOTED = ("id", "from", "date_day")
QUOTED_SQL = f"""
create or replace table <model_identifier> (`id`, `from` string, `date_day` string) as
select
  if(not ((`from` = 'blue')), {violated("from_check", "(`from` = 'blue')", QUOTED)}, {is_null("id", QUOTED)}) as `id`,
  {is_null("from", QUOTED)} as `from`,
  `date_day`
from (
  select 'blue' as `from`, 1 as id, '2019-01-01' as date_day
) as model_subq
"""


class SparkTypes:
    @pytest.fixture
    def string_type(self):
        return "string"

    @pytest.fixture
    def int_type(self):
        return "int"

    @pytest.fixture
    def data_types(self, schema_int_type, int_type, string_type):
        # sql_column_value, schema_data_type, error_data_type
        return [
            ["1", schema_int_type, int_type],
            ["'1'", string_type, string_type],
            ["true", "boolean", "boolean"],
            ["cast('2013-11-03' as timestamp)", "timestamp", "timestamp"],
            ["cast('2013-11-03' as timestamp_ntz)", "timestamp_ntz", "timestamp_ntz"],
            ["array('a', 'b')", "array<string>", "array<string>"],
            ["cast('1' as decimal(10, 2))", "decimal(10,2)", "decimal(10,2)"],
            ["named_struct('a', 1)", "struct<a:int>", "struct<a:int>"],
        ]


@pytest.mark.default_suite("test__constraints_wrong_column_data_types", "test__constraints_wrong_column_names")
class TestTableConstraintsColumnsEqual(SparkTypes, BaseTableConstraintsColumnsEqual):
    pass


@pytest.mark.default_suite("test__constraints_wrong_column_names")
class TestViewConstraintsColumnsEqual(SparkTypes, BaseViewConstraintsColumnsEqual):
    pass


@pytest.mark.default_suite("test__constraints_wrong_column_names")
class TestIncrementalConstraintsColumnsEqual(SparkTypes, BaseIncrementalConstraintsColumnsEqual):
    pass


class OurMessages:
    @pytest.fixture(scope="class")
    def expected_error_messages(self):
        return [".my_model failed: A row violates the NOT NULL constraint of column id: id = NULL, color = red, "]


class TestTableConstraintsRollback(OurMessages, BaseConstraintsRollback):
    pass


@pytest.mark.conformance
class TestIncrementalConstraintsRollback(OurMessages, BaseIncrementalConstraintsRollback):
    pass


class TestTableContractSqlHeader(BaseTableContractSqlHeader):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model_contract_sql_header.sql": CONTRACT_SQL_HEADER.format(materialized="table"),
            "constraints_schema.yml": fixtures.model_contract_header_schema_yml,
        }


class TestIncrementalContractSqlHeader(BaseIncrementalContractSqlHeader):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model_contract_sql_header.sql": CONTRACT_SQL_HEADER.format(materialized="incremental"),
            "constraints_schema.yml": fixtures.model_contract_header_schema_yml,
        }


@pytest.mark.conformance
class TestIncrementalForeignKeyConstraint(BaseIncrementalForeignKeyConstraint):
    pass


class TestTableConstraintsRuntimeDdlEnforcement(BaseConstraintsRuntimeDdlEnforcement):
    @pytest.fixture(scope="class")
    def expected_sql(self):
        return CHECKED_SQL


class TestIncrementalConstraintsRuntimeDdlEnforcement(BaseIncrementalConstraintsRuntimeDdlEnforcement):
    @pytest.fixture(scope="class")
    def expected_sql(self):
        return CHECKED_SQL


class TestModelConstraintsRuntimeEnforcement(BaseModelConstraintsRuntimeEnforcement):
    @pytest.fixture(scope="class")
    def expected_sql(self):
        return CHECKED_SQL


class TestConstraintQuotedColumn(BaseConstraintQuotedColumn):
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "my_model.sql": fixtures.my_model_with_quoted_column_name_sql,
            "constraints_schema.yml": fixtures.model_quoted_column_schema_yml.replace('"from" =', "`from` ="),
        }

    @pytest.fixture(scope="class")
    def expected_sql(self):
        return QUOTED_SQL
