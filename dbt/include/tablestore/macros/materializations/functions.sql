{#- Functions of dbt: one CREATE FUNCTION each. The default materialization `function` calls these. -#}

{% macro tablestore__scalar_function_create_replace_signature_sql(target_relation) -%}
  CREATE OR REPLACE FUNCTION {{ target_relation.render() }} ({{ formatted_scalar_function_args_sql() }})
  {{ tablestore__function_clauses() }}
  AS
{%- endmacro %}

{% macro tablestore__scalar_function_python(target_relation) -%}
  CREATE OR REPLACE FUNCTION {{ target_relation.render() }} ({{ formatted_scalar_function_args_sql() }})
  {{ tablestore__function_clauses() }}
  LANGUAGE PYTHON
  {{ get_function_python_options() }}
  AS $$
{{ model.compiled_code }}
$$
{%- endmacro %}

{% macro tablestore__aggregate_function_python(target_relation) -%}
  {#- Spark calls an aggregate function with all of its arguments, so they have no defaults. -#}
  CREATE OR REPLACE AGGREGATE FUNCTION {{ target_relation.render() }} ({{ tablestore__function_args(defaults=false) }})
  RETURNS {{ model.returns.data_type }}
  LANGUAGE PYTHON
  {{ get_function_python_options() }}
  {{ tablestore__function_comment() }}
  AS $$
{{ model.compiled_code }}
$$
{%- endmacro %}

{% macro tablestore__aggregate_function_sql(target_relation) -%}
  CREATE OR REPLACE AGGREGATE FUNCTION {{ target_relation.render() }} ({{ tablestore__function_args(defaults=false) }})
  RETURNS {{ model.returns.data_type }}
  {{ tablestore__function_comment() }}
  RETURN {{ model.compiled_code }}
{%- endmacro %}

{% macro tablestore__formatted_scalar_function_args_sql() -%}
  {{ tablestore__function_args(defaults=true) }}
{%- endmacro %}

{% macro tablestore__function_args(defaults) -%}
  {%- for one in model.arguments -%}
    {{ one.name }} {{ one.data_type }}
    {%- if defaults and one.get('default_value') is not none %} DEFAULT {{ one.default_value }}{% endif -%}
    {%- if not loop.last %}, {% endif -%}
  {%- endfor -%}
{%- endmacro %}

{% macro tablestore__function_clauses() -%}
  RETURNS {{ model.returns.data_type }}
  {{ scalar_function_volatility_sql() }}
  {{ tablestore__function_comment() }}
{%- endmacro %}

{% macro tablestore__function_comment() -%}
  {%- if config.persist_relation_docs() and model.description -%}
    COMMENT {{ adapter.tablestore_literal(model.description) }}
  {%- endif -%}
{%- endmacro %}

{% macro tablestore__function_execute_build_sql(build_sql, existing_relation, target_relation) -%}
  {% call statement(name='main') %}
    {{ build_sql }}
  {% endcall %}
  {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
{%- endmacro %}
