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
