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

  {%- set query = adapter.tablestore_snapshot_query(
        tablestore_spark_sql(model['compiled_code']), target_relation, target_relation_exists, model) -%}
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
    {% do adapter.tablestore_evolve(target_relation, change, 'widen', model, true) %}
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


{# New rows, and rows that end. dbt's own query joins the source with the snapshot once for each; here both come from
   one join, after which a row that changed is repeated, and only changed rows are hashed. A row whose id the snapshot
   has already gets another one: the MERGE would not insert it. That is a row of a known key and time, as of one that
   was removed and comes back, or changes while `updated_at` does not. Where deletes are ignored, a key has a current
   row, whose time and id show it. #}
{% macro tablestore__snapshot_staging_table(strategy, source_sql, target_relation) -%}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {%- set scd_id, updated_at = columns.dbt_scd_id, columns.dbt_updated_at -%}
  {%- if strategy.hard_deletes in ('invalidate', 'new_record') %}
  select staged.* except ({{ scd_id }}),
    if(known.__dbt_known is null, staged.{{ scd_id }}, {{ tablestore_another_id('staged.' ~ scd_id) }}) as {{ scd_id }}
  from (
    {{ default__snapshot_staging_table(strategy, source_sql, target_relation) }}
  ) as staged
  left outer join (select {{ scd_id }} as __dbt_known from {{ target_relation.render() }}) as known
    on known.__dbt_known = staged.{{ scd_id }} and staged.dbt_change_type = 'insert'
  {%- else %}
  {%- set valid_to, current = columns.dbt_valid_to, config.get('dbt_valid_to_current') -%}
  with snapshotted_data as (
    select *, {{ unique_key_fields(strategy.unique_key) }}
    from {{ target_relation.render() }}
    where {{ valid_to }} is null
    {%- if current %} or {{ equals(valid_to | trim, current | trim) }}{% endif %}
  ),
  source_data as (
    select *, {{ unique_key_fields(strategy.unique_key) }},
      {{ strategy.updated_at }} as {{ updated_at }},
      {{ strategy.updated_at }} as {{ columns.dbt_valid_from }},
      {{ get_dbt_valid_to_current(strategy, columns) }}
    from (
      {{ source_sql }}
    ) as snapshot_query
  ),
  changed as (
    select source_data.*, if({{ strategy.row_changed }}, snapshotted_data.{{ scd_id }}, null) as __dbt_ended,
      snapshotted_data.{{ scd_id }} like '%@%'
        or not coalesce(source_data.{{ updated_at }} > snapshotted_data.{{ updated_at }}, false) as __dbt_known
    from source_data
    left outer join snapshotted_data
      on {{ unique_key_join_on(strategy.unique_key, 'snapshotted_data', 'source_data') }}
    where {{ unique_key_is_null(strategy.unique_key, 'snapshotted_data') }} or {{ strategy.row_changed }}
  )
  select dbt_change_type, changed.* except ({{ valid_to }}, __dbt_ended, __dbt_known),
    if(dbt_change_type = 'update', {{ updated_at }}, {{ valid_to }}) as {{ valid_to }},
    case
      when dbt_change_type = 'update' then __dbt_ended
      when __dbt_ended is not null and __dbt_known then {{ tablestore_another_id(strategy.scd_id) }}
      else {{ strategy.scd_id }}
    end as {{ scd_id }}
  from changed
  lateral view explode(if(__dbt_ended is null, array('insert'), array('insert', 'update'))) as dbt_change_type
  {%- endif %}
{%- endmacro %}

{# The id of a row by its key and time, and the time of the run. #}
{% macro tablestore_another_id(scd_id) -%}
  concat({{ scd_id }}, '@', unix_micros(current_timestamp()))
{%- endmacro %}

{# The columns that a `check` compares, and whether the snapshot lacks one. dbt's own macro distinguishes names by the
   case of their letters. #}
{% macro snapshot_check_all_get_existing_columns(node, target_exists, check_cols_config) -%}
  {%- if not target_exists -%}
    {% do return((false, [])) %}
  {%- endif -%}
  {%- set query = tablestore_spark_sql(node['compiled_code']) -%}
  {%- if check_cols_config is iterable and check_cols_config is not string and check_cols_config -%}
    {%- set query = 'select ' ~ check_cols_config | join(', ') ~ ' from (\n' ~ query ~ '\n) as snapshot_query' -%}
  {%- elif check_cols_config != 'all' -%}
    {% do exceptions.raise_compiler_error("check_cols is " ~ check_cols_config ~ ": list columns, or say 'all'.") %}
  {%- endif -%}
  {%- set existing, compared, lacks = {}, [], [] -%}
  {%- for column in adapter.get_columns_in_relation(
        adapter.get_relation(database=node.database, schema=node.schema, identifier=node.alias)) -%}
    {%- do existing.update({column.name: column.quoted}) -%}
    {%- do existing.setdefault(column.name | lower, column.quoted) -%}
  {%- endfor -%}
  {%- for name in get_columns_in_query(query) -%}
    {%- set column = existing.get(name, existing.get(name | lower)) -%}
    {%- do (compared if column else lacks).append(column or name) -%}
  {%- endfor -%}
  {% do return((lacks | length > 0, compared)) %}
{%- endmacro %}

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
