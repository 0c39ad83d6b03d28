{# A table that remembers its query. Each run computes all rows anew and replaces the old ones by one commit. A change
   of the model is applied as `on_configuration_change` says. #}
{% materialization materialized_view, adapter='tablestore' %}

  {%- set existing_relation, target_relation = tablestore_open('table') -%}

  {%- set query = tablestore_spark_sql(sql) -%}
  {%- set step = adapter.tablestore_view_step(existing_relation, model) -%}
  {%- set action = 'REPLACE' if existing_relation is not none and should_full_refresh() else step.name -%}
  {%- if step.changes and not should_full_refresh() -%}
    {%- set mode = config.get('on_configuration_change') | string -%}
    {%- set found = 'Configuration changes were identified and `on_configuration_change` was set to `' ~ mode
                    ~ '` for `' ~ target_relation.render() ~ '`' -%}
    {%- if mode == 'fail' -%}
      {{ exceptions.raise_fail_fast_error(found ~ ': ' ~ step.changes) }}
    {%- elif mode == 'continue' -%}
      {% do exceptions.warn(found) %}
      {%- set action, query = 'REFRESH', step.query -%}
    {%- endif -%}
  {%- endif -%}

  {{ log('Applying ' ~ action ~ ' to: ' ~ target_relation.render()) }}
  {%- if action in ('CREATE', 'REPLACE') -%}
    {% do tablestore_build_table(existing_relation, target_relation, query) %}
  {%- else -%}
    {%- if action == 'ALTER' -%}
      {% do adapter.tablestore_alter_view(target_relation, step, model) %}
    {%- endif -%}
    {% call tablestore_build() -%}
      {{ tablestore_refresh_sql(target_relation, query) }}
    {%- endcall %}
  {%- endif -%}

  {{ return(tablestore_close(target_relation)) }}

{% endmaterialization %}


{% macro tablestore_refresh_sql(relation, query) -%}
  {%- set sql_header = config.get('sql_header', none) -%}
  {%- set columns = adapter.get_columns_in_relation(relation) | map(attribute='quoted') | join(', ') -%}
  {{ sql_header if sql_header is not none }}
  insert overwrite {{ relation.render() }} /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ ({{ columns }})
  select {{ columns }} from (
  {{ query }}
  ) as dbt_query
{%- endmacro %}
