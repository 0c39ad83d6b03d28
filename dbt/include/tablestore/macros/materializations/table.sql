{% materialization table, adapter='tablestore', supported_languages=['sql', 'python'] %}

  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='table') -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = tablestore_spark_sql(compiled_code) -%}
  {% do tablestore_build_table(existing_relation, target_relation, query, model['language']) %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target_relation, model, for_relation=false) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target_relation]}) }}

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


{# The statement `main` of a node that writes rows. #}
{% macro tablestore_build() -%}
  {%- set sql = caller() -%}
  {{ log('Writing runtime sql for node "{}"'.format(model['unique_id'])) }}
  {{ write(sql) }}
  {%- set response = adapter.tablestore_build(sql, model) -%}
  {{ store_result('main', response=response, agate_table=none) }}
{%- endmacro %}
