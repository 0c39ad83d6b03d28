{# `float` means 64 bits to most warehouses; Spark's own float has 32. #}
{% macro tablestore__type_float() -%}
  {% do return('double') %}
{%- endmacro %}
