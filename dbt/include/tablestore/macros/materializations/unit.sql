{# Unit tests. The model's column types come from analysing its query; no temporary table is created. #}
{% materialization unit, adapter='tablestore' %}

  {%- set query = tablestore_spark_sql(sql) -%}
  {%- set columns = adapter.get_column_schema_from_query(get_empty_subquery_sql(query)) -%}
  {%- set types, quoted = {}, {} -%}
  {%- for column in columns -%}
    {%- do types.update({column.name | lower: column.data_type}) -%}
    {%- do quoted.update({column.name | lower: column.quoted}) -%}
  {%- endfor -%}

  {%- set expected_rows = config.get('expected_rows') -%}
  {%- set expected_sql = config.get('expected_sql') -%}
  {%- if expected_rows -%}
    {%- set tested = expected_rows[0].keys() | map('lower') | list -%}
  {%- else -%}
    {%- set tested = columns | map(attribute='name') | map('lower') | list -%}
  {%- endif -%}
  {%- set tested_quoted = [] -%}
  {%- for name in tested -%}
    {%- do tested_quoted.append(quoted[name]) -%}
  {%- endfor -%}
  {%- if not expected_sql -%}
    {%- set expected_sql = get_expected_sql(expected_rows, types, quoted) -%}
  {%- endif -%}

  {% call statement('main', fetch_result=True) -%}
    {{ get_unit_test_sql(query, expected_sql, tested_quoted) }}
  {%- endcall %}

  {{ return({'relations': []}) }}

{% endmaterialization %}


{# The rows that a unit test gives for a table: columns that a row lacks are null. A row of changes may say by
   `_row_kind` what it does, which is no column of the table; one that does not was inserted. #}
{% macro get_fixture_sql(rows, column_name_to_data_types) -%}
  {%- set table = defer_relation if defer_relation and not load_relation(this) else this -%}
  {%- set types, quoted = {}, {} -%}
  {%- if adapter.tablestore_is_fixture_of_changes(this) or rows | selectattr('_row_kind', 'defined') | list -%}
    {%- do types.update({'_row_kind': 'string'}) -%}
    {%- do quoted.update({'_row_kind': '_row_kind'}) -%}
  {%- endif -%}
  {%- set columns = adapter.get_columns_in_relation(table) -%}
  {%- for column in columns -%}
    {%- do types.update({column.name | lower: column.data_type}) -%}
    {%- do quoted.update({column.name | lower: column.quoted}) -%}
  {%- endfor -%}
  {%- if not columns -%}
    {%- do exceptions.raise_compiler_error(
          "The unit test needs the columns of " ~ table ~ ", which does not exist. Build it first: dbt run --empty. "
          ~ "Rows of an ephemeral model are given with `format: sql`.") -%}
  {%- endif -%}
  {%- do validate_fixture_rows(rows, none) -%}
  {%- for row in rows or [{}] -%}
    {%- set given = format_row(row, types) if row else {} -%}
    select
    {%- for name, type in types.items() -%}
      {%- set absent = safe_cast("'+I'" if name == '_row_kind' else 'null', type) | trim %}
      {{ given.get(name, absent) }} as {{ quoted[name] }}{{ ',' if not loop.last }}
    {%- endfor %}
    {{ 'union all' if not loop.last else 'limit 0' if not rows }}
  {% endfor -%}
{%- endmacro %}
