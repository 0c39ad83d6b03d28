{# A part that a text does not have is empty, and null where an array would have it. #}
{% macro tablestore__split_part(string_text, delimiter_text, part_number) -%}
  {%- set part = 'split_part(' ~ string_text ~ ', ' ~ delimiter_text ~ ', ' ~ part_number ~ ')' -%}
  {%- if part_number is number and tablestore_written_in('duckdb', 'bigquery', 'databricks') -%}
    case when length({{ string_text }}) - length(replace({{ string_text }}, {{ delimiter_text }}, ''))
      >= {{ part_number | abs - 1 }} * length({{ delimiter_text }}) then {{ part }} end
  {%- else -%}
    {{ part }}
  {%- endif -%}
{%- endmacro %}

{# Null where one of the texts is. #}
{% macro tablestore__concat(fields) -%}
  {{ tablestore_function('concat') }}({{ fields | join(', ') }})
{%- endmacro %}

{% macro tablestore__except() -%}
  {{ 'except distinct' if tablestore_written_in('bigquery') else 'except' }}
{%- endmacro %}

{% macro tablestore__intersect() -%}
  {{ 'intersect distinct' if tablestore_written_in('bigquery') else 'intersect' }}
{%- endmacro %}

{% macro tablestore__bool_or(expression) -%}
  bool_or({{ expression }})
{%- endmacro %}

{% macro tablestore__any_value(expression) -%}
  any_value({{ expression }})
{%- endmacro %}

{# Null for a text that is not a value of the type, in ANSI mode and without it. A struct, array or map in the rows of a
   unit test comes as the literal of its SQL. #}
{% macro tablestore__safe_cast(field, type) -%}
  {%- if field is string and cast_from_string_unsupported_for(type) -%}
    {%- set inner = field[1:-1] | replace("''", "'") | replace("\\'", "'") | replace("\\\\", "\\") -%}
    cast({{ inner if field[:1] == "'" else field.strip('"') }} as {{ type }})
  {%- else -%}
    try_cast({{ field }} as {{ type }})
  {%- endif -%}
{%- endmacro %}

{% macro tablestore__listagg(measure, delimiter_text, order_by_clause, limit_num) -%}
  {%- set within = ' within group (' ~ order_by_clause ~ ')' if order_by_clause else '' -%}
  {%- if limit_num -%}
    {#- Join by a character that does not occur in texts, cut the list, and join it by the delimiter. It is written
        itself, because some dialects know no escapes in texts. -#}
    {%- set mark = "'\u0001'" -%}
    {{ tablestore_function('array_join') }}({{ tablestore_function('slice') }}({{ tablestore_function('split') }}(
      listagg({{ measure }}, {{ mark }}){{ within }}, {{ mark }}), 1, {{ limit_num }}), {{ delimiter_text }})
  {%- else -%}
    listagg({{ measure }}, {{ delimiter_text }}){{ within }}
  {%- endif -%}
{%- endmacro %}

{% macro tablestore__hash(field) -%}
  {{ tablestore_function('md5') }}(cast({{ field }} as string))
{%- endmacro %}

{% macro tablestore__array_construct(inputs, data_type) -%}
  {{ tablestore_function('array') }}({{ inputs | join(', ') }})
{%- endmacro %}

{% macro tablestore__array_concat(array_1, array_2) -%}
  {{ tablestore_function('concat') }}({{ array_1 }}, {{ array_2 }})
{%- endmacro %}

{# For use within a literal, in which some other warehouses double the quotes. #}
{% macro tablestore__escape_single_quotes(expression) -%}
{%- if tablestore_written_in('redshift', 'postgres', 'duckdb', 'trino') -%}
{{ expression | replace("'", "''") }}
{%- else -%}
{{ adapter.tablestore_literal(expression)[1:-1] }}
{%- endif -%}
{%- endmacro %}

{# The name of a function of Spark in the text of a model. In another dialect it is marked, and not translated. #}
{% macro tablestore_function(name) -%}
  {% do return('spark__' ~ name if adapter.tablestore_dialect(model if model is defined else {}) else name) %}
{%- endmacro %}

{# Whether the text of which this is a part is written in one of some dialects. #}
{% macro tablestore_written_in() -%}
  {% do return(adapter.tablestore_dialect(model if model is defined else {}) in varargs) %}
{%- endmacro %}
