{# Snapshots: a table with the key dbt_scd_id, to which one MERGE adds. The staging query is the source of the MERGE. #}
{% materialization snapshot, adapter='tablestore' %}

  {%- set target_table = model.get('alias', model.get('name')) -%}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {%- set target_relation_exists, target_relation = get_or_create_relation(
        database=none, schema=model.schema, identifier=target_table, type='table') -%}
  {%- if not target_relation.is_table -%}
    {% do exceptions.relation_wrong_type(target_relation, 'table') %}
  {%- endif -%}

  {% do tablestore_pre_hooks() %}

  {%- set query = tablestore_spark_sql(model['compiled_code']) -%}
  {%- set strategy_macro = strategy_dispatch(config.get('strategy')) -%}
  {%- set strategy = strategy_macro(
        model, "snapshotted_data", "source_data", model['config'], target_relation_exists) -%}

  {%- if not target_relation_exists -%}
    {%- set final_sql -%}
      create or replace table {{ target_relation.render() }}
      {{ adapter.tablestore_layout(model, [columns.dbt_scd_id]).clauses(tablestore_relation_comment()) }}
      as
      {{ build_snapshot_table(strategy, query) }}
    {%- endset -%}
  {%- else -%}
    {{ adapter.assert_valid_snapshot_target_given_strategy(target_relation, columns, strategy) }}
    {%- set staging_sql = snapshot_staging_table(strategy, query, target_relation) -%}
    {%- set staged = tablestore_snapshot_columns(adapter.get_column_schema_from_query(staging_sql)) -%}
    {%- set change = adapter.tablestore_schema_change(staged, adapter.get_columns_in_relation(target_relation)) -%}
    {% do adapter.tablestore_widen(target_relation, change) %}
    {%- set final_sql = snapshot_merge_sql(
          target=target_relation,
          source='(\n' ~ staging_sql ~ '\n)',
          insert_cols=staged | map(attribute='quoted') | list
       ) -%}
  {%- endif -%}

  {% call tablestore_build() %}
    {{ final_sql }}
  {% endcall %}

  {{ return(tablestore_close(target_relation)) }}

{% endmaterialization %}


{# The columns of the staging query that belong to the snapshot table. #}
{% macro tablestore_snapshot_columns(staged) -%}
  {%- set kept = [] -%}
  {%- for column in staged -%}
    {%- set name = column.name | lower -%}
    {%- if name != 'dbt_change_type' and not name.startswith('dbt_unique_key') -%}
      {%- do kept.append(column) -%}
    {%- endif -%}
  {%- endfor -%}
  {% do return(kept) %}
{%- endmacro %}

{% macro tablestore__snapshot_merge_sql(target, source, insert_cols) -%}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  merge into {{ target.render() }} as DBT_INTERNAL_DEST
  using {{ source }} as DBT_INTERNAL_SOURCE
  on DBT_INTERNAL_SOURCE.{{ columns.dbt_scd_id }} = DBT_INTERNAL_DEST.{{ columns.dbt_scd_id }}
  when matched
    {%- if config.get('dbt_valid_to_current') %}
    and (DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} = {{ config.get('dbt_valid_to_current') }}
      or DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null)
    {%- else %}
    and DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null
    {%- endif %}
    and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
    then update set DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} = DBT_INTERNAL_SOURCE.{{ columns.dbt_valid_to }}
  when not matched and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert'
    then insert ({{ insert_cols | join(', ') }})
    values ({% for column in insert_cols %}DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}

{% macro tablestore__snapshot_hash_arguments(args) -%}
  md5(concat_ws('|', {% for arg in args -%}
    coalesce(cast({{ arg }} as string), ''){{ ', ' if not loop.last }}
  {%- endfor %}))
{%- endmacro %}

{% macro tablestore__snapshot_string_as_time(timestamp) -%}
  {%- do return('timestamp ' ~ adapter.tablestore_literal(timestamp)) -%}
{%- endmacro %}
