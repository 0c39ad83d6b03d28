{% materialization incremental, adapter='tablestore', supported_languages=['sql', 'python'] %}

  {%- set language = model['language'] -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- set strategy = adapter.tablestore_strategy(model.config) -%}
  {%- set strategy_macro = adapter.get_incremental_strategy_macro(context, strategy) -%}

  {% do adapter.tablestore_check_lost_columns(tablestore_spark_sql(sql) if language == 'sql' else none, this, model) %}
  {%- set existing_relation, target_relation = tablestore_open('table') -%}

  {%- if existing_relation is none or existing_relation.is_view or should_full_refresh()
        or tablestore_rebuilds() -%}
    {% do adapter.tablestore_begin_changes(tablestore_sources_of_changes(), this, model) %}
    {% do tablestore_build_table(existing_relation, target_relation, tablestore_spark_sql(compiled_code), language) %}
  {%- else -%}
    {%- if language == 'python' -%}
      {%- set query = adapter.tablestore_python_model(model, compiled_code) -%}
    {%- else -%}
      {%- set query = tablestore_spark_sql(sql) -%}
    {%- endif -%}
    {%- set contract = config.get('contract') -%}
    {%- if contract and contract.enforced -%}
      {{ get_assert_columns_equivalent(query) }}
      {%- set query = get_select_subquery(query) -%}
    {%- endif -%}
    {%- set atomic = adapter.tablestore_is_builtin(strategy) -%}
    {%- set dest_columns = tablestore_dest_columns(on_schema_change, query, target_relation, atomic) -%}
    {%- set query = adapter.tablestore_with_fields_of(query, target_relation, on_schema_change) -%}
    {%- set source = tablestore_source(strategy, query, target_relation) -%}
    {%- set build_sql = strategy_macro({
        'target_relation': target_relation,
        'temp_relation': source,
        'unique_key': config.get('unique_key'),
        'dest_columns': dest_columns,
        'incremental_predicates': config.get('predicates', none) or config.get('incremental_predicates', none),
    }) -%}
    {%- set sql_header = config.get('sql_header', none) -%}
    {% call tablestore_build(target_relation, query) -%}
      {{ sql_header if sql_header is not none }}
      {{ build_sql }}
    {%- endcall %}
  {%- endif -%}

  {{ return(tablestore_close(target_relation)) }}

{% endmaterialization %}


{# The source of a strategy: the model's query itself, which then runs once; a temporary view for the user's macros. #}
{% macro tablestore_source(strategy, query, target_relation) -%}
  {%- if adapter.tablestore_is_builtin(strategy) -%}
    {% do return('(\n' ~ query ~ '\n)') %}
  {%- endif -%}
  {%- set temp_relation = make_temp_relation(target_relation) -%}
  {% do run_query(create_table_as(true, temp_relation, query)) %}
  {% do return(temp_relation) %}
{%- endmacro %}


{# Adapts the table to the model: together with the rows if these are written by one statement (`atomic`), else before,
   in one commit of its schema. The columns to write: those of the table, or those of the query if on_schema_change
   adapts the table to them. #}
{% macro tablestore_dest_columns(on_schema_change, query, target_relation, atomic=false) -%}
  {%- set empty = get_empty_subquery_sql(query) -%}
  {%- set found = none if on_schema_change == 'ignore' else adapter.get_column_schema_from_query(empty) -%}
  {%- set change = adapter.tablestore_schema_change(found, adapter.get_columns_in_relation(target_relation), model) -%}
  {%- if change and on_schema_change == 'fail' -%}
    {% do exceptions.raise_compiler_error(change.misfit(target_relation.render())) %}
  {%- endif -%}
  {%- set removes = adapter.tablestore_takes_row_kinds(model.config) -%}
  {% do adapter.tablestore_check_columns(query, target_relation, change, on_schema_change, model, removes) %}
  {% do adapter.tablestore_evolve(target_relation, change, on_schema_change, model, atomic) %}
  {% do return(change.source_columns if change else change.target_columns) %}
{%- endmacro %}
