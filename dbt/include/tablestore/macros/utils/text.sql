{% macro tablestore__split_part(string_text, delimiter_text, part_number) -%}
  split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }})
{%- endmacro %}

{% macro tablestore__bool_or(expression) -%}
  bool_or({{ expression }})
{%- endmacro %}

{% macro tablestore__any_value(expression) -%}
  any_value({{ expression }})
{%- endmacro %}

{# Null for a text that is not a value of the type, in ANSI mode and without it. #}
{% macro tablestore__safe_cast(field, type) -%}
  {%- if field is string and cast_from_string_unsupported_for(type) -%}
    cast({{ field.strip('"').strip("'") }} as {{ type }})
  {%- else -%}
    try_cast({{ field }} as {{ type }})
  {%- endif -%}
{%- endmacro %}

{% macro tablestore__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- set within = ' within group (' ~ order_by_clause ~ ')' if order_by_clause else '' -%}
  {%- if limit_num -%}
    {#- Join by a character that does not occur in texts, cut the list, and join it by the delimiter. -#}
    array_join(slice(split(listagg({{ measure }}, '\u0001'){{ within }}, '\u0001'), 1, {{ limit_num }}), {{ delimiter_text }})
  {%- else -%}
    listagg({{ measure }}, {{ delimiter_text }}){{ within }}
  {%- endif -%}
{%- endmacro %}

{# For use within a literal. #}
{% macro tablestore__escape_single_quotes(expression) -%}
{{ adapter.tablestore_literal(expression)[1:-1] }}
{%- endmacro %}
