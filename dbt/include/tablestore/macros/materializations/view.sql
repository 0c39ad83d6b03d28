{% materialization view, adapter='tablestore' %}

  {%- set existing_relation = load_cached_relation(this) -%}
  {%- set target_relation = this.incorporate(type='view') -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = tablestore_spark_sql(sql) -%}
  {%- set build_sql = get_create_view_as_sql(target_relation, query) -%}
  {%- if existing_relation is not none and not existing_relation.is_view -%}
    {# The table is dropped only after the view's query is known to be valid. #}
    {% do adapter.get_column_schema_from_query(query) %}
    {{ log("Dropping relation " ~ existing_relation.render() ~ " because it is of type " ~ existing_relation.type) }}
    {% do adapter.drop_relation(existing_relation) %}
  {%- endif -%}

  {% call statement('main') -%}
    {{ build_sql }}
  {%- endcall %}

  {% do apply_grants(target_relation, config.get('grants'), should_revoke=False) %}
  {% do persist_docs(target_relation, model) %}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}

  {{ return({'relations': [target_relation]}) }}

{% endmaterialization %}
