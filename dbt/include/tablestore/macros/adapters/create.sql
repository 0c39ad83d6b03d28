{# CREATE statements. A table is replaced atomically: after a failed build the old table is still there. #}

{% macro tablestore__create_table_as(temporary, relation, compiled_code, language='sql') -%}
  {%- if language == 'python' -%}
    {%- set compiled_code = adapter.tablestore_python_model(model, compiled_code) -%}
  {%- endif -%}
  {%- set sql_header = config.get('sql_header', none) -%}
  {{ sql_header if sql_header is not none }}
  {%- if temporary %}
  create or replace temporary view {{ relation.include(schema=false) }} as
  {%- else %}
  create or replace table {{ relation.render() }}
  {{ adapter.tablestore_layout(model).clauses(tablestore_relation_comment()) }}
  as
  {%- set contract = config.get('contract') %}
  {%- if contract and contract.enforced %}
    {{- get_assert_columns_equivalent(compiled_code) }}
    {%- set compiled_code = get_select_subquery(compiled_code) %}
  {%- endif %}
  {%- endif %}
  {{ compiled_code }}
{%- endmacro %}

{% macro tablestore__create_view_as(relation, sql) -%}
  {%- set sql_header = config.get('sql_header', none) -%}
  {{ sql_header if sql_header is not none }}
  create or replace view {{ relation.render() }}
  {%- set column_comments = tablestore_column_comments(sql) %}
  {%- if column_comments %}
  ({{ column_comments | join(', ') }})
  {%- endif %}
  {%- set comment = tablestore_relation_comment() %}
  {%- if comment %}
  comment {{ adapter.tablestore_literal(comment) }}
  {%- endif %}
  {%- set contract = config.get('contract') %}
  {%- if contract and contract.enforced %}
    {{- get_assert_columns_equivalent(sql) }}
  {%- endif %}
  as
  {{ sql }}
{%- endmacro %}

{% macro tablestore_relation_comment() -%}
  {% if config.persist_relation_docs() and model.description %}
    {% do return(model.description) %}
  {% endif %}
  {% do return(none) %}
{%- endmacro %}

{# `name` comment '…' for each column of the query if the docs of columns are persisted, otherwise an empty list. #}
{% macro tablestore_column_comments(sql) -%}
  {% set specs = [] %}
  {% if config.persist_column_docs() and model.columns %}
    {% set names = adapter.get_column_schema_from_query(sql) | map(attribute='name') | list %}
    {% set documented = adapter.tablestore_descriptions(model, names) %}
    {% for name in names %}
      {% set text = documented.get(name | lower) %}
      {% do specs.append(adapter.quote(name) ~ (' comment ' ~ adapter.tablestore_literal(text) if text else '')) %}
    {% endfor %}
  {% endif %}
  {% do return(specs) %}
{%- endmacro %}

{# The columns of an enforced contract in its order, each checked while the table is written. #}
{% macro tablestore__get_select_subquery(sql) -%}
  select {{ adapter.tablestore_contract_columns(model) | join(',\n    ') }}
  from (
    {{ sql }}
  ) as model_subq
{%- endmacro %}

{% macro tablestore__get_empty_schema_sql(columns) -%}
  {%- set own = adapter.tablestore_own_columns(columns) -%}
  {{ adapter.tablestore_contract_sql(model, own) or default__get_empty_schema_sql(own) }}
{%- endmacro %}

{# A contract's texts are compared without lengths, which queries do not have, and numbers as its dialect does. #}
{% macro tablestore__format_column(column) -%}
  {%- set data_type = adapter.tablestore_compared_type(model, column) -%}
  {% do return({'name': column.name, 'data_type': data_type, 'formatted': column.name | lower ~ ' ' ~ data_type}) %}
{%- endmacro %}
