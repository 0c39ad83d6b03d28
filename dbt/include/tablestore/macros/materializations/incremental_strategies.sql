{# Incremental strategies. Each is one statement: it is atomic and evaluates the model's query once. #}

{% macro get_incremental_upsert_sql(arg_dict) -%}
  {{ return(adapter.dispatch('get_incremental_upsert_sql', 'dbt')(arg_dict)) }}
{%- endmacro %}

{% macro default__get_incremental_upsert_sql(arg_dict) -%}
  {% do return(get_incremental_merge_sql(arg_dict)) %}
{%- endmacro %}

{% macro tablestore__get_incremental_upsert_sql(arg_dict) -%}
  {%- set target, columns = arg_dict['target_relation'], arg_dict['dest_columns'] -%}
  {%- if adapter.tablestore_is_plain_upsert(target, model.config, columns, arg_dict['incremental_predicates']) -%}
    {% do return(tablestore_insert_sql(target, arg_dict['temp_relation'], columns)) %}
  {%- elif config.get('row_kind') and not adapter.tablestore_keys(model.config) -%}
    {#- Without a key, rows that carry their own kind need no MERGE. -#}
    {% do return(tablestore_insert_sql(target, arg_dict['temp_relation'], columns)) %}
  {%- endif -%}
  {% do return(tablestore_merge_sql(arg_dict)) %}
{%- endmacro %}

{% macro tablestore__get_incremental_merge_sql(arg_dict) -%}
  {% do return(get_incremental_upsert_sql(arg_dict)) %}
{%- endmacro %}

{% macro tablestore__get_incremental_append_sql(arg_dict) -%}
  {%- set target = arg_dict['target_relation'] -%}
  {% do return(tablestore_insert_sql(target, arg_dict['temp_relation'], arg_dict['dest_columns'])) %}
{%- endmacro %}

{% macro get_incremental_changelog_sql(arg_dict) -%}
  {{ return(adapter.dispatch('get_incremental_changelog_sql', 'dbt')(arg_dict)) }}
{%- endmacro %}

{# Rows that say what they do. Of several rows of one key, one that puts the row counts, not one that removes it: both
   come from the change of an input that moved the key from one row to another. #}
{% macro default__get_incremental_changelog_sql(arg_dict) -%}
  {%- set target = arg_dict['target_relation'] -%}
  {%- set keys = adapter.tablestore_primary_key(target) -%}
  {%- if not keys or not adapter.tablestore_replaces_by(target, keys) -%}
    {% do return(tablestore_insert_sql(target, arg_dict['temp_relation'], arg_dict['dest_columns'])) %}
  {%- endif -%}
  {%- set columns = tablestore_written_columns(arg_dict['dest_columns']) -%}
  insert into {{ target.render() }} ({{ columns }})
  select {{ columns }}
  from (
    select {{ columns }}, row_number() over (
      partition by {{ keys | join(', ') }} order by if(_row_kind in ('+I', '+U'), 0, 1)
    ) as __dbt_number
    from {{ arg_dict['temp_relation'] }} as dbt_source
  )
  where __dbt_number = 1
{%- endmacro %}

{% macro tablestore__get_incremental_insert_overwrite_sql(arg_dict) -%}
  {%- set columns = tablestore_written_columns(arg_dict['dest_columns']) -%}
  insert overwrite {{ arg_dict['target_relation'].render() }} ({{ columns }})
  select {{ columns }}
  from {{ arg_dict['temp_relation'] }} as dbt_source
{%- endmacro %}

{% macro tablestore__get_incremental_delete_insert_sql(arg_dict) -%}
  {%- set keys = adapter.tablestore_keys(model.config, arg_dict['dest_columns']) -%}
  {%- set predicates = arg_dict['incremental_predicates'] or [] -%}
  {%- if not keys -%}
    {% do return(tablestore__get_incremental_append_sql(arg_dict)) %}
  {%- elif adapter.tablestore_replaces_by(arg_dict['target_relation'], keys) -%}
    {#- The key is the table's primary key, so a row replaces the one of its key, whole: columns that the query lacks
        have no value afterwards. -#}
    {% do return(tablestore__get_incremental_append_sql(arg_dict)) %}
  {%- endif -%}
  {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | list -%}
  {#- The first source row of each key is repeated: one copy deletes the old rows of the key, the other is inserted.
      Only the first has a key to join by: otherwise each row would meet all old rows of its key. -#}
  merge into {{ arg_dict['target_relation'].render() }} as DBT_INTERNAL_DEST
  using (
    select *
    {%- for key in keys %}, if(__dbt_delete, {{ key }}, null) as __dbt_key_{{ loop.index }}{% endfor %}
    from (
      select {{ arg_dict['dest_columns'] | map(attribute='as_stored') | join(', ') }}, __dbt_delete
      from (
        select *, row_number() over (partition by {{ keys | join(', ') }} order by 1) as __dbt_number
        from {{ arg_dict['temp_relation'] }} as dbt_source
      ) lateral view explode(if(__dbt_number = 1, array(true, false), array(false))) as __dbt_delete
    )
  ) as DBT_INTERNAL_SOURCE
  on {% for key in keys -%}
    {{ adapter.tablestore_qualified(arg_dict['target_relation'], key, 'DBT_INTERNAL_DEST') }}
      = DBT_INTERNAL_SOURCE.__dbt_key_{{ loop.index }}{{ ' and ' if not loop.last }}
  {%- endfor %}
  when matched
  {%- for predicate in ([predicates] if predicates is string else predicates) %}
    and ({{ adapter.tablestore_qualified(arg_dict['target_relation'], predicate, 'DBT_INTERNAL_DEST') }})
  {%- endfor %} then delete
  when not matched and not DBT_INTERNAL_SOURCE.__dbt_delete then {{ tablestore_merge_insert(columns) }}
{%- endmacro %}

{# A batch replaces the rows of its time window. dbt filters the source by plain texts, and the window of the target is
   written in the same way, so that Spark casts both to the column's type (DATE, TIMESTAMP, TIMESTAMP_NTZ). #}
{% macro tablestore__get_incremental_microbatch_sql(arg_dict) -%}
  {%- set target = arg_dict['target_relation'] -%}
  {%- set columns = arg_dict['dest_columns'] | map(attribute='quoted') | list -%}
  {%- set event_time = 'DBT_INTERNAL_DEST.' ~ adapter.quote(model.config.event_time) -%}
  {%- set batch = model.batch -%}
  {%- set window = [] -%}
  {%- if batch and batch.event_time_start -%}
    {% do window.append(event_time ~ ' >= ' ~ adapter.tablestore_literal(batch.event_time_start)) %}
  {%- endif -%}
  {%- if batch and batch.event_time_end -%}
    {% do window.append(event_time ~ ' < ' ~ adapter.tablestore_literal(batch.event_time_end)) %}
  {%- endif -%}
  {%- set within = window | join(' and ') -%}
  {%- set keys = adapter.tablestore_primary_key(target) -%}
  {%- if not window -%}
    {% do return(tablestore__get_incremental_append_sql(arg_dict)) %}
  {%- elif keys %}
  merge into {{ target.render() }} as DBT_INTERNAL_DEST
  using {{ arg_dict['temp_relation'] }} as DBT_INTERNAL_SOURCE
  on {% for key in keys -%}
    DBT_INTERNAL_DEST.{{ key }} = DBT_INTERNAL_SOURCE.{{ key }}{{ ' and ' if not loop.last }}
  {%- endfor %}
  when matched then update set
  {%- for column in columns %}
    DBT_INTERNAL_DEST.{{ column }} = DBT_INTERNAL_SOURCE.{{ column }}{{ ',' if not loop.last }}
  {%- endfor %}
  {%- for column in tablestore_columns_without_value(target, arg_dict['dest_columns']) %},
    DBT_INTERNAL_DEST.{{ column }} = default
  {%- endfor %}
  when not matched then {{ tablestore_merge_insert(columns) }}
  when not matched by source and {{ within }} then delete
  {%- else %}
  {#- The source gets one additional row, which matches the whole window and is never inserted. It is joined by an
      equality, because all other rows would meet the window otherwise. #}
  merge into {{ target.render() }} as DBT_INTERNAL_DEST
  using (
    select * from {{ arg_dict['temp_relation'] }} as dbt_source
    full outer join (select true as __dbt_delete) as dbt_window on false
  ) as DBT_INTERNAL_SOURCE
  on DBT_INTERNAL_SOURCE.__dbt_delete = ({{ within }}) and {{ within }}
  when matched then delete
  when not matched and DBT_INTERNAL_SOURCE.__dbt_delete is null then {{ tablestore_merge_insert(columns) }}
  {%- endif -%}
{%- endmacro %}


{# The quoted columns of a table that the query lacks, and on_schema_change keeps. #}
{% macro tablestore_columns_without_value(target, dest_columns) -%}
  {%- set given = dest_columns | map(attribute='name') | map('lower') | list -%}
  {%- set found = [] -%}
  {%- if config.get('on_schema_change') == 'append_new_columns' -%}
    {%- for one in adapter.get_columns_in_relation(target) if one.name | lower not in given -%}
      {% do found.append(one.quoted) %}
    {%- endfor -%}
  {%- endif -%}
  {% do return(found) %}
{%- endmacro %}

{% macro tablestore_merge_insert(columns) -%}
  {%- if config.get('row_kind') -%}
    {% do exceptions.raise_compiler_error(
      'Config `row_kind` is supported with `append`, `insert_overwrite` and an upsert of whole rows by the primary '
      'key. The MERGE that this model needs would insert deletes as rows.'
    ) %}
  {%- endif -%}
  insert ({{ columns | join(', ') }})
    values ({% for column in columns %}DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}

{# The columns that an INSERT names; with `row_kind` also the column that holds the kind of each row. #}
{% macro tablestore_written_columns(dest_columns) -%}
  {%- set names = dest_columns | map(attribute='quoted') | list -%}
  {%- if adapter.tablestore_takes_row_kinds(model.config) -%}
    {%- do names.append(adapter.quote('_row_kind')) -%}
  {%- endif -%}
  {% do return(names | join(', ')) %}
{%- endmacro %}

{% macro tablestore_insert_sql(target_relation, source, dest_columns) -%}
  {%- set columns = tablestore_written_columns(dest_columns) -%}
  insert into {{ target_relation.render() }} ({{ columns }})
  select {{ columns }}
  from {{ source }} as dbt_source
{%- endmacro %}

{# A MERGE, for when some columns are not updated or predicates restrict the match. #}
{% macro tablestore_merge_sql(arg_dict) -%}
  {%- set keys = adapter.tablestore_keys(model.config, arg_dict['dest_columns']) -%}
  {%- set predicates = arg_dict['incremental_predicates'] or [] -%}
  {%- set predicates = [predicates] if predicates is string else predicates -%}
  {%- set columns = arg_dict['dest_columns'] -%}
  {%- set updated = adapter.tablestore_update_columns(model.config, columns) -%}
  {%- set target = arg_dict['target_relation'] -%}
  merge into {{ target.render() }} as DBT_INTERNAL_DEST
  using {{ arg_dict['temp_relation'] }} as DBT_INTERNAL_SOURCE
  {%- if keys %}
  on {% for key in keys -%}
    {{ adapter.tablestore_qualified(target, key, 'DBT_INTERNAL_DEST') }}
      = {{ adapter.tablestore_qualified(target, key, 'DBT_INTERNAL_SOURCE') }}{{ ' and ' if not loop.last }}
  {%- endfor %}
  {%- for predicate in predicates %}
    and ({{ adapter.tablestore_qualified(target, predicate, 'DBT_INTERNAL_DEST') }})
  {%- endfor %}
  {%- if updated %}
  when matched then update set
    {% for column in updated -%}
    DBT_INTERNAL_DEST.{{ column }} = DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}
    {%- endfor %}
  {%- endif %}
  {%- else %}
  on false
  {%- endif %}
  when not matched then {{ tablestore_merge_insert(columns | map(attribute='quoted') | list) }}
{%- endmacro %}

{# With dbt's signature, for the user's own strategies; dbt-spark has a different macro of this name. #}
{% macro get_insert_into_sql(target_relation, temp_relation, dest_columns) -%}
  {{ tablestore_insert_sql(target_relation, temp_relation, dest_columns) }}
{%- endmacro %}
