{% materialization table, adapter='tablestore', supported_languages=['sql', 'python'] %}

  {%- set existing_relation, target_relation = tablestore_open('table') -%}

  {%- set query = tablestore_spark_sql(compiled_code) -%}
  {% do tablestore_build_table(existing_relation, target_relation, query, model['language']) %}

  {{ return(tablestore_close(target_relation, comments_relation=false)) }}

{% endmaterialization %}


{# Create or replace a table, as the statement `main`. A view of the same name is dropped only after that succeeds. #}
{% macro tablestore_build_table(existing_relation, target_relation, compiled_code, language='sql') -%}
  {%- if existing_relation is not none and not existing_relation.is_table -%}
    {%- set building = make_intermediate_relation(target_relation) -%}
    {% call tablestore_build() -%}
      {{ create_table_as(false, building, compiled_code, language) }}
    {%- endcall %}
    {% do adapter.drop_relation(existing_relation) %}
    {% do adapter.rename_relation(building, target_relation) %}
  {%- else -%}
    {%- if existing_relation is not none -%}
      {% do adapter.tablestore_note_replaced(existing_relation, model) %}
    {%- endif -%}
    {% call tablestore_build() -%}
      {{ create_table_as(false, target_relation, compiled_code, language) }}
    {%- endcall %}
  {%- endif -%}
{%- endmacro %}


{# The statement `main` of a node that writes rows: those of `query` into an existing table, if these are given. #}
{% macro tablestore_build(existing=none, query=none) -%}
  {%- set sql = caller() -%}
  {{ log('Writing runtime sql for node "{}"'.format(model['unique_id'])) }}
  {{ write(sql) }}
  {%- set response = adapter.tablestore_build(sql, model, existing, query) -%}
  {{ store_result('main', response=response, agate_table=none) }}
{%- endmacro %}
