"""Stars whose columns are written out, and those that stay because the columns are not known."""

import pytest
from dbt_common.exceptions import DbtRuntimeError
from support.one_line import one_line

from dbt.adapters.tablestore.dialect.translate import translate

COLUMNS = {"A": "int", "b": "int", "id_x": "int"}


@pytest.mark.parametrize(
    ("dialect", "text", "expected"),
    [
        ("bigquery", "select * except (b) replace (a + 1 as a) from t", "SELECT a + 1 AS `A`, `id_x` FROM t"),
        ("bigquery", "with q as (select 1 as a, 2 as b) select * replace (3 as b) from q",
         "WITH q AS ( SELECT 1 AS a, 2 AS b ) SELECT a, 3 AS b FROM q"),
        ("snowflake", "select t.* rename (a as z) from s.t join s.u on true",
         "SELECT t.`A` AS z, t.`b`, t.`id_x` FROM s.t JOIN s.u ON TRUE"),
        ("snowflake", "select * ilike 'ID%' from s.t", "SELECT `id_x` FROM s.t"),
        ("duckdb", "select 1 as a union all by name select * replace (5 as a) from s.t",
         ("SELECT a, NULL AS `b`, NULL AS `id_x` FROM ( SELECT 1 AS a ) AS _side UNION ALL SELECT 5 AS `A`, `b`, "
          "`id_x` FROM s.t")),
    ],
)  # fmt: skip
def test_stars_are_written_out_where_the_columns_are_known(dialect, text, expected):
    assert one_line(translate(text, dialect, lambda parts: COLUMNS)) == expected


def test_stars_of_unknown_columns_are_refused():
    with pytest.raises(DbtRuntimeError, match="REPLACE in SELECT"):
        translate("select * replace (1 as a) from s.t", "bigquery", lambda parts: None)
    with pytest.raises(DbtRuntimeError, match="RENAME in SELECT"):
        translate("select * rename (a as c) from s.t join s.u using (a)", "snowflake", lambda parts: COLUMNS)


@pytest.mark.parametrize("change", ["replace (b + 1 as b)", "rename (b as c)"])
def test_a_changed_column_must_be_one_of_the_star(change):
    with pytest.raises(DbtRuntimeError, match="of 'b', which is no column of the star"):
        translate(f"select * {change} from (select 1 as a) q", "snowflake")
