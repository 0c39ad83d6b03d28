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


{# The values of a row of a unit test, as SQL, by column in lower case. A value that its column cannot hold is an error:
   dbt's own macro makes it null, and the test compares that. #}
{% macro format_row(row, column_name_to_data_types) -%}
  {%- set given, types = {}, column_name_to_data_types -%}
  {%- for column, value in row.items() -%}
    {%- set name = column | lower -%}
    {%- if name not in types -%}
      {%- set where = 'expected output' if model.resource_type == 'unit_test' else "'%s'" | format(model.name) -%}
      {%- set text = "Invalid column name: '%s' in unit test fixture for %s.\nAccepted columns for %s are: %s" -%}
      {%- do exceptions.raise_compiler_error(text | format(name, where, where, types.keys() | list)) -%}
    {%- endif -%}
    {%- set text = 'null' if value is none else value -%}
    {%- if value is string -%}
      {%- set text = dbt.string_literal(dbt.escape_single_quotes(value)) -%}
    {%- endif -%}
    {%- set cast = safe_cast(text, types[name]) | trim -%}
    {%- set starts = ('try_cast(', 'safe_cast(') | select('in', cast[:10] | lower) | list -%}
    {%- do given.update({name: 'cast(' ~ cast[starts[0] | length:] if starts else cast}) -%}
  {%- endfor -%}
  {%- do return(given) -%}
{%- endmacro %}
