{% macro tablestore__can_clone_table() -%}
  {% do return(true) %}
{%- endmacro %}

{% macro tablestore__create_or_replace_clone(this_relation, defer_relation) -%}
  create or replace table {{ this_relation.render() }}
  {{ adapter.tablestore_clauses_of(defer_relation) }}
  as select * from {{ adapter.tablestore_cloned(defer_relation, model) }}
{%- endmacro %}


{% materialization clone, adapter='tablestore' %}

  {%- set relations = {'relations': []} -%}
  {%- if not defer_relation -%}
    {{ log("No relation found in state manifest for " ~ model.unique_id, info=True) }}
    {{ return(relations) }}
  {%- endif -%}

  {%- set existing_relation = load_cached_relation(this) -%}
  {%- if existing_relation and not flags.FULL_REFRESH -%}
    {{ log("Relation " ~ existing_relation.render() ~ " already exists", info=True) }}
    {{ return(relations) }}
  {%- endif -%}

  {%- set source = load_cached_relation(defer_relation) -%}
  {%- if source and this.schema == source.schema and this.identifier == source.identifier -%}
    {{ log("Target relation and defer relation are the same, skipping clone for relation: " ~ this.render()) }}
    {{ return(relations) }}
  {%- endif -%}
  {%- if source and source.is_table and can_clone_table() -%}
    {%- set target_relation = this.incorporate(type='table') -%}
    {%- if existing_relation is not none and not existing_relation.is_table -%}
      {% do adapter.drop_relation(existing_relation) %}
    {%- endif -%}
    {%- set response = adapter.tablestore_clone(
          create_or_replace_clone(target_relation, source), target_relation, model) -%}
    {{ store_result('main', response=response, agate_table=none) }}
    {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
    {% do persist_docs(target_relation, model) %}
  {%- else -%}
    {%- set target_relation = this.incorporate(type='view') -%}
    {%- if existing_relation is not none and not existing_relation.is_view -%}
      {% do adapter.drop_relation(existing_relation) %}
    {%- endif -%}
    {% call statement('main') -%}
      create or replace view {{ target_relation.render() }} as select * from {{ defer_relation.render() }}
    {%- endcall %}
  {%- endif -%}

  {{ return({'relations': [target_relation]}) }}

{% endmaterialization %}
