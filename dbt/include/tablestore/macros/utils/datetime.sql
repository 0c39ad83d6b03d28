{% macro tablestore__current_timestamp() -%}
  current_timestamp()
{%- endmacro %}

{% macro tablestore__dateadd(datepart, interval, from_date_or_timestamp) -%}
  {{ tablestore_function('timestampadd') }}({{ tablestore_datepart(datepart, 'dateadd') }}, cast({{ interval }} as int), cast({{ from_date_or_timestamp }} as timestamp))
{%- endmacro %}

{# The number of datepart boundaries between two points in time, as in most warehouses. Weeks begin on Sunday. #}
{% macro tablestore__datediff(first_date, second_date, datepart) -%}
  {%- set part = tablestore_datepart(datepart, 'datediff') -%}
  {%- set next_day, date_trunc = tablestore_function('next_day'), tablestore_function('date_trunc') -%}
  {{ tablestore_function('timestampdiff') }}({{ part }},
  {%- if part == 'WEEK' %} {{ next_day }}(cast({{ first_date }} as date), 'SUN'), {{ next_day }}(cast({{ second_date }} as date), 'SUN'))
  {%- else %} {{ date_trunc }}('{{ part }}', cast({{ first_date }} as timestamp)), {{ date_trunc }}('{{ part }}', cast({{ second_date }} as timestamp)))
  {%- endif -%}
{%- endmacro %}

{% macro tablestore__date_trunc(datepart, date) -%}
  {{ tablestore_function('date_trunc') }}('{{ datepart }}', {{ date }})
{%- endmacro %}

{% macro tablestore_datepart(datepart, macro_name) -%}
  {%- set part = datepart | trim | upper -%}
  {%- if part not in ('YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND') -%}
    {% do exceptions.raise_compiler_error(macro_name ~ " does not know the datepart '" ~ datepart ~ "'") %}
  {%- endif -%}
  {% do return(part) %}
{%- endmacro %}
