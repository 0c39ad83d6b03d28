{# Models that are computed from what changed in other tables, or from the messages of topics, each change once:
   `from {{ changes(ref('orders')) }}`, `from {{ kafka_changes(source('shop', 'orders')) }}`. #}

{# The rows that changed in a table since this model last ran, with their `_row_kind`; all rows as `+I` when the model
   is built anew. #}
{% macro changes(relation) -%}
  {%- if not execute -%}
    {{ return(relation) }}
  {%- endif -%}
  {%- do adapter.tablestore_note_fixture(relation) -%}
  {{ return(adapter.tablestore_changes(relation, this, model, is_incremental())) }}
{%- endmacro %}

{# The rows of the messages of a Kafka topic since this model last ran, with their `_row_kind`; of all messages when the
   model is built anew. The `meta` of the source says where the topic is. #}
{% macro kafka_changes(source) -%}
  {%- if not execute -%}
    {{ return(source) }}
  {%- endif -%}
  {%- do adapter.tablestore_note_fixture(source) -%}
  {{ return(adapter.tablestore_kafka_changes(source, this, model, is_incremental())) }}
{%- endmacro %}

{# All rows of a table, at the instant up to which this model reads changes. #}
{% macro pinned(relation) -%}
  {%- if not execute -%}
    {{ return(relation) }}
  {%- endif -%}
  {{ return(adapter.tablestore_pinned(relation, model)) }}
{%- endmacro %}

{# 1 for a row that is there after a change, -1 for one that was there before it: `sum(amount * {{ row_sign() }})`. #}
{% macro row_sign(alias=none) -%}
  case when {{ alias ~ '.' if alias }}_row_kind in ('+I', '+U') then 1 else -1 end
{%- endmacro %}

{# dbt's own, and false when changes that the model needs are lost and it may be built anew. #}
{% macro is_incremental() -%}
  {%- if not execute or this is none -%} {# a unit test that does not give `this` #}
    {{ return(False) }}
  {%- endif -%}
  {%- set relation = adapter.get_relation(this.database, this.schema, this.table) -%}
  {{ return(relation is not none
            and relation.type == 'table'
            and model.config.materialized == 'incremental'
            and not should_full_refresh()
            and not tablestore_rebuilds()) }}
{%- endmacro %}

{# Whether the model is built anew because changes that it needs are lost. #}
{% macro tablestore_rebuilds() -%}
  {{ return(adapter.tablestore_rebuilds(this, model, tablestore_sources_of_changes())) }}
{%- endmacro %}

{# The tables whose changes the model's text reads, in whichever branch of it. #}
{% macro tablestore_sources_of_changes() -%}
  {%- set found = [] -%}
  {%- for call in adapter.tablestore_calls_of_changes(model) -%}
    {%- if call.function == 'ref' -%}
      {%- do found.append(ref(*call.arguments, **call.named)) -%}
    {%- else -%}
      {%- do found.append(source(*call.arguments)) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(found) }}
{%- endmacro %}

{# How far each model is behind the tables whose changes it reads: dbt run-operation tablestore_lag #}
{% macro tablestore_lag() %}
  {% if execute %}
    {% for node in graph.nodes.values() if node.resource_type == 'model' %}
      {% set relation = adapter.get_relation(node.database, node.schema, node.alias) %}
      {% if relation is not none and relation.type == 'table' %}
        {% for line in adapter.tablestore_lag_of(relation, node) %}
          {% do log(node.name ~ ' <- ' ~ line, info=true) %}
        {% endfor %}
      {% endif %}
    {% endfor %}
  {% endif %}
{% endmacro %}
