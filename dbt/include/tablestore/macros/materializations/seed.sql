{% materialization seed, adapter='tablestore' %}

  {%- set target_relation = this.incorporate(type='table') -%}
  {%- set existing_relation = load_cached_relation(this) -%}
  {%- if existing_relation is not none and existing_relation.is_view -%}
    {{ exceptions.raise_compiler_error("Cannot seed to '{}', it is a view".format(existing_relation.render())) }}
  {%- endif -%}
  {%- set agate_table = load_agate_table() -%}
  {%- do store_result('agate_table', response='OK', agate_table=agate_table) -%}

  {% do tablestore_pre_hooks() %}

  {%- if existing_relation is not none -%}
    {% do adapter.tablestore_note_replaced(existing_relation, model) %}
  {%- endif -%}
  {# One atomic step: the old rows can be read until the new ones are committed. #}
  {%- set loaded = adapter.tablestore_load_seed(target_relation, agate_table, model, tablestore_relation_comment()) -%}
  {%- set rows_affected = agate_table.rows | length -%}
  {% call noop_statement('main', loaded.message, loaded.code, rows_affected) %}
    {{ loaded.sql }}
  {% endcall %}

  {{ return(tablestore_close(target_relation, comments_relation=false)) }}

{% endmaterialization %}
