"""Contracts with the names of types of other warehouses, model versions, constraints that are not enforced, grants."""

from __future__ import annotations

import pytest
from dbt.tests.util import relation_from_name, run_dbt, run_dbt_and_capture, write_file
from support.dbt_models import table_of

from tablestore_engine.schema.table.check_constraints import check_constraints
from tablestore_engine.schema.types.sql_literals import spark_type

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
      - {name: s, data_type: "struct<x:int>"}
      - {name: s.x, data_type: int, description: a field}
      - name: parent
        data_type: bigint
        constraints: [{type: foreign_key, expression: "orders (id)"}, {type: custom, expression: "mask (x)"}]
    versions:
      - v: 1
        columns: [{include: all, exclude: [tags, s, s.x, parent]}]
      - v: 2
  - name: of_snowflake
    config: {contract: {enforced: true}}
    columns: [{name: ID, data_type: number}, {name: V, data_type: varchar(2)}]
"""
FIRST = "select 1::int8 as id, cast('a' as text) as label, 2.5::number(10, 2) as total"
SECOND = """select id, label, total * {factor} as total,
  array(label)::array<text> as tags, {{{{ of_a_fixture("named_struct('x', 1)", 'struct<x:int>') }}}} as s,
  cast(null as int64) as parent
from {{{{ ref('orders', v=1) }}}}"""


FIXTURE = """{% macro of_a_fixture(value, type) %}
  {{ dbt.safe_cast(dbt.string_literal(dbt.escape_single_quotes(value)), type) }}
{% endmacro %}"""


class TestContracts:
    @pytest.fixture(scope="class")
    def macros(self):
        """As the row of a unit test makes a struct of a text."""
        return {"of_a_fixture.sql": FIXTURE}

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "orders_v1.sql": FIRST,
            "orders_v2.sql": self.second("1.0::number(1)"),
            "last.sql": "select id from {{ ref('orders') }}",
            "of_snowflake.sql": "{{ config(dialect='snowflake') }} select 1::number as ID, 'a'::varchar(2) as V",
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
        assert len(results) == 4
        assert log.count("grants are ignored") == 1
        log = " ".join(log.split())
        for kind in ("foreign_key", "custom"):
            assert log.count(f"The constraint type {kind} is not supported by tablestore, and will be ignored") == 1
        assert "will be included in this model's DDL" not in log
        table = table_of(project, "orders_v2")
        assert table.schema.primary_keys == ("id",)
        assert [str(one.type) for one in table.schema.fields] == [
            "BIGINT NOT NULL", "STRING", "DECIMAL(10, 2)", "ARRAY<STRING>", "ROW<`x` INT>", "BIGINT",
        ]  # fmt: skip

    def test_a_check_holds_before_the_commit(self, project):
        write_file(self.second("-1"), project.project_root, "models", "orders_v2.sql")
        [result] = run_dbt(["run", "-s", "orders.v2"], expect_pass=False)
        assert "orders_v2 failed: A row violates the CHECK constraint positive (total > 0): total = -" in result.message
        assert project.run_sql("select total from {schema}.orders_v2", fetch="one")[0] > 0

    def test_the_message_about_a_null_has_the_row(self, project):
        query = self.second("1.0::number(1)").replace("select id,", "select cast(null as bigint) as id,")
        write_file(query, project.project_root, "models", "orders_v2.sql")
        [result] = run_dbt(["run", "-s", "orders.v2"], expect_pass=False)
        assert (
            "orders_v2 failed: A row violates the NOT NULL constraint of column id: id = NULL, label = a, "
            in result.message
        )
        assert "SQLSTATE" not in result.message

    def test_another_type_is_named(self, project):
        write_file(FIRST.replace("int8", "text"), project.project_root, "models", "orders_v1.sql")
        [result] = run_dbt(["run", "-s", "orders.v1"], expect_pass=False)
        assert "data type mismatch" in result.message


KEPT = """
models:
  - name: kept
    config: {contract: {enforced: true}, materialized: incremental, on_schema_change: append_new_columns}
    columns:
      - {name: id, data_type: int, constraints: [{type: not_null}]}
      - {name: v, data_type: int, constraints: CONSTRAINTS}
seeds:
  - name: seeded
    config: {contract: {enforced: true}}
    columns: [{name: v, data_type: int, constraints: [{type: not_null}]}]
"""
CHECKED = "[{type: not_null}, {type: check, name: positive, expression: v > 0}]"


class TestConstraintsOfTheTable:
    """The table keeps the constraints of its contract, so that writers other than dbt are held to them."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"kept.sql": self.model("1 as id, 1 as v"), "models.yml": KEPT.replace("CONSTRAINTS", CHECKED)}

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seeded.csv": "id,v\n1,1\n"}

    def model(self, items):
        return f"select {items}"

    def state(self, project, name="kept"):
        schema = table_of(project, name).schema
        strict = [one.name for one in schema.fields if not one.type.nullable]
        return strict, {one.name: one.sql for one in check_constraints(schema.options)}

    def build(self, project, items, constraints, *more):
        write_file(self.model(items), project.project_root, "models", "kept.sql")
        write_file(KEPT.replace("CONSTRAINTS", constraints), project.project_root, "models", "models.yml")
        _, log = run_dbt_and_capture(["run", "-s", "kept", *more])
        return log

    def test_a_run_that_fails_leaves_the_constraints_as_they_were(self, project):
        self.build(project, "1 as id, 1 as v", CHECKED, "--full-refresh")
        before = table_of(project, "kept").schema
        for checks in (CHECKED.replace("v > 0", "v > 10"), "[{type: check, name: other, expression: v > 10}]", "[]"):
            write_file(KEPT.replace("CONSTRAINTS", checks), project.project_root, "models", "models.yml")
            write_file("select 2 as id, int(raise_error('no')) as v", project.project_root, "models", "kept.sql")
            run_dbt(["run", "-s", "kept"], expect_pass=False)
            assert table_of(project, "kept").schema == before, checks
        self.build(project, "20 as id, 20 as v", CHECKED.replace("v > 0", "v < 100"))
        assert self.state(project) == (["id", "v"], {"positive": "v < 100"})

    def test_constraints_come_and_go_with_the_contract(self, project):
        self.build(project, "1 as id, 1 as v", CHECKED, "--full-refresh")
        run_dbt(["seed"])
        positive = {"positive": "v > 0"}
        assert self.state(project) == (["id", "v"], positive)
        assert self.state(project, "seeded") == (["v"], {})
        for row in ("2, null", "2, -1"):
            with pytest.raises(Exception, match=r"NOT NULL|positive"):
                project.run_sql(f"insert into {{schema}}.kept values ({row})")
        # A run that names them no longer drops them, but not what others added.
        project.run_sql("alter table {schema}.kept add constraint small check (v < 100)")
        self.build(project, "2 as id, cast(null as int) as v", "[]")
        assert self.state(project) == (["id"], {"small": "v < 100"})
        # Rows that are there already may violate a constraint that comes later.
        log = self.build(project, "3 as id, 3 as v", CHECKED)
        assert "does without the constraint not_null of column 'v'" in log
        assert self.state(project) == (["id"], {"small": "v < 100", **positive})
        assert project.run_sql("select count(*) from {schema}.kept", fetch="one")[0] == 3
        project.run_sql("delete from {schema}.kept where v is null")
        log = self.build(project, "4 as id, 4 as v", CHECKED)
        assert "does without" not in log
        assert self.state(project)[0] == ["id", "v"]
        with project.adapter.connection_named("test"):
            clauses = project.adapter.tablestore_clauses_of(relation_from_name(project.adapter, "kept"))
        clauses = clauses.replace("{", "{{").replace("}", "}}")  # run_sql formats it
        project.run_sql(f"create table {{schema}}.copy {clauses} as select * from {{schema}}.kept")
        assert self.state(project, "copy") == self.state(project)
        self.build(project, "5 as id, 5 as v", "[{type: check, expression: v > 1}]", "--full-refresh")
        assert self.state(project) == (["id"], {"v_check": "v > 1"})


VIEW = """
models:
  - name: seen
    config: {contract: {enforced: true}}
    columns:
      - {name: id, data_type: int, constraints: [{type: not_null}]}
      - {name: v, data_type: int, constraints: [{type: check, name: positive, expression: v > 0}]}
"""


class TestMaterializedViews:
    """Each refresh is held to the contract."""

    @pytest.fixture(scope="class")
    def models(self):
        text = "{{ config(materialized='materialized_view') }} select id, v from {{ target.schema }}.counted"
        return {"seen.sql": text, "seen.yml": VIEW}

    def test_a_row_that_violates_it_is_refused(self, project):
        project.run_sql("create table {schema}.counted (id int, v int)")
        project.run_sql("insert into {schema}.counted values (1, -1)")
        [result] = run_dbt(["run"], expect_pass=False)
        assert "A row violates the CHECK constraint positive (v > 0): v = -1" in result.message
        project.run_sql("create or replace table {schema}.counted (id int, v int)")
        project.run_sql("insert into {schema}.counted values (1, 1)")
        for _ in range(2):
            run_dbt(["run"])
        for row in ("(2, -2)", "(null, 2)"):
            project.run_sql(f"insert into {{schema}}.counted values {row}")
            [result] = run_dbt(["run"], expect_pass=False)
            assert "violates the" in result.message
            assert project.run_sql("select id, v from {schema}.seen", fetch="all") == [(1, 1)]


SIZED = """
models:
  - name: sized
    config: {contract: {enforced: true}, materialized: MATERIALIZED, on_schema_change: MODE}
    columns:
      - {name: id, data_type: int}
      - {name: a, data_type: varchar(3)}
      - {name: s, data_type: "array<struct<x:varchar(3)>>"}
  - name: of_sized
    config: {contract: {enforced: true}, materialized: table, dialect: bigquery}
    columns:
      - {name: a, data_type: STRING(4)}
      - {name: s, data_type: ARRAY<STRUCT<x STRING>>}
      - {name: n, data_type: numeric}
      - {name: i, data_type: INT64}
seeds:
  - name: seeded
    config: {column_types: {v: varchar(5)}, contract: {enforced: true}}
    columns: [{name: v, data_type: text}, {name: W, data_type: varchar(2)}]
"""
APPEND = "append_new_columns"
STRUCTS = "array<struct<x:varchar(3)>>"


CHARRED = """
models:
  - name: charred
    config:
      materialized: incremental
      incremental_strategy: delete+insert
      unique_key: k
      on_schema_change: append_new_columns
      contract: {enforced: true}
    columns:
      - {name: k, data_type: char(3)}
      - {name: v, data_type: int}
"""


class TestLengths:
    """The length of a text in a contract is that of the table's column, and every row is held to it."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "sized.sql": self.of(1, "abc", "xyz"),
            "of_sized.sql": "select a, s, numeric '1.5' as n, 1 as i from {{ ref('sized') }}",
            "models.yml": self.schema(),
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"seeded.csv": "v,w\nabcde,ab\n"}

    def of(self, number, text, inside):
        return f"select {number} as id, '{text}' as a, array(named_struct('x', '{inside}')) as s"

    def schema(self, kind="varchar(3)", materialized="incremental", mode="append_new_columns"):
        text = SIZED.replace("data_type: varchar(3)", f"data_type: {kind}").replace("MODE", mode)
        return text.replace("MATERIALIZED", materialized)

    def run(self, project, kind, mode, *row, fails="", more=()):
        write_file(self.schema(kind, mode=mode), project.project_root, "models", "models.yml")
        write_file(self.of(*row), project.project_root, "models", "sized.sql")
        [result] = run_dbt(["run", "-s", "sized", *more], expect_pass=not fails)
        assert fails in result.message
        return self.types(project, "sized")[1]

    def types(self, project, name):
        return [spark_type(one.type) for one in table_of(project, name).schema.fields]

    def test_new_tables_and_seeds(self, project):
        run_dbt(["build"])
        assert self.types(project, "sized") == ["int", "varchar(3)", STRUCTS]
        assert self.types(project, "of_sized") == ["varchar(4)", "array<struct<x:string>>", "decimal(38,9)", "bigint"]
        assert self.types(project, "seeded") == ["varchar(5)", "varchar(2)"]
        for table, row in (("sized", "1, 'abcd', null"), ("sized", "1, 'a', array(named_struct('x', 'long'))"),
                           ("seeded", "'abcdef', ''")):  # fmt: skip
            with pytest.raises(Exception, match="has the type VARCHAR"):
                project.run_sql(f"insert into {{schema}}.{table} values ({row})")

    def test_a_char_as_key_of_delete_and_insert(self, project):
        """The query's text has no blanks at its end, and that of the table has."""
        write_file(CHARRED, project.project_root, "models", "charred.yml")
        for number in (1, 2):
            write_file(f"select 'a' as k, {number} as v", project.project_root, "models", "charred.sql")
            run_dbt(["run", "-s", "charred"])
        assert project.run_sql("select k, v from {schema}.charred", fetch="all") == [("a  ", 2)]

    def test_texts_that_are_longer(self, project):
        long, inside = "abcd", "the type varchar(3) in the contract, and a row has a longer text: abcd"
        self.run(project, "varchar(3)", "fail", 2, long, "x", fails=inside)
        self.run(project, "varchar(3)", APPEND, 2, long, "x", fails=inside)
        for more in ((), ("--full-refresh",)):
            self.run(project, "varchar(3)", APPEND, 2, "a", long, fails=f"the type {STRUCTS}", more=more)
        write_file("v,w\nabcdef,a\n", project.project_root, "seeds", "seeded.csv")
        [result] = run_dbt(["seed"], expect_pass=False)
        assert "has the type VARCHAR(5), and a value has 6 characters" in result.message
        counts = "(select count(*) from {schema}.sized), (select count(*) from {schema}.seeded)"
        assert project.run_sql(f"select {counts}", fetch="one") == (1, 1)

    def test_contracts_with_another_length(self, project):
        """append_new_columns makes texts longer, as dbt does elsewhere; a model under a contract has this or `fail`."""
        self.run(project, "varchar(3)", APPEND, 1, "abc", "xyz", more=["--full-refresh"])
        for kind, named in (("varchar(5)", "varchar(5)"), ("varchar", "string")):
            self.run(project, kind, "fail", 2, "ab", "x", fails=f"changed types a ({named}, not varchar(3))")
        assert self.run(project, "varchar(5)", APPEND, 3, "abcde", "x") == "varchar(5)"
        # A table keeps the longer texts that it may have, and its model's rows are held to the contract.
        self.run(project, "varchar(3)", APPEND, 4, "abcd", "x", fails="has a longer text: abcd")
        assert self.run(project, "varchar(3)", APPEND, 4, "abc", "x") == "varchar(5)"
        self.run(project, "varchar(3)", "fail", 5, "abc", "x", fails="changed types a (varchar(3), not varchar(5))")
        assert self.run(project, "varchar", APPEND, 5, "abcdefgh", "x") == "string"
        assert self.run(project, "varchar(3)", APPEND, 6, "abc", "x", more=["--full-refresh"]) == "varchar(3)"
