{# The compiled text of the current node as Spark's SQL, if it is written in another dialect. #}
{% macro tablestore_spark_sql(sql) -%}
  {% do return(adapter.tablestore_spark_sql(model, sql, write)) %}
{%- endmacro %}

{# Tests and `dbt show` take a node's text from here. #}
{% macro tablestore__get_limit_sql(sql, limit) -%}
  {{ tablestore_spark_sql(sql) }}
  {%- if limit is not none %}
  limit {{ limit }}
  {%- endif -%}
{%- endmacro %}
