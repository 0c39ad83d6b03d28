{% materialization view, adapter='tablestore' %}

  {%- set existing_relation, target_relation = tablestore_open('view') -%}

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

  {{ return(tablestore_close(target_relation)) }}

{% endmaterialization %}
