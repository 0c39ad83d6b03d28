{# `float` has 64 bits in most warehouses; Spark's float has 32. #}
{% macro tablestore__type_float() -%}
  {% do return('double') %}
{%- endmacro %}
