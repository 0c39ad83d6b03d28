{% macro tablestore__current_timestamp() -%}
  current_timestamp()
{%- endmacro %}

{% macro tablestore__dateadd(datepart, interval, from_date_or_timestamp) -%}
  {%- set part = tablestore_datepart(datepart, 'dateadd') -%}
  {{ tablestore_function('timestampadd') }}(
    {{- part }}, cast({{ interval }} as int), cast({{ from_date_or_timestamp }} as timestamp))
{%- endmacro %}

{# The number of datepart boundaries between two points in time, as in most warehouses. Weeks begin on Sunday. #}
{% macro tablestore__datediff(first_date, second_date, datepart) -%}
  {%- set part = tablestore_datepart(datepart, 'datediff') -%}
  {%- set next_day, date_trunc = tablestore_function('next_day'), tablestore_function('date_trunc') -%}
  {#- dbt-postgres makes these of date_part, which gives fractions: a quotient of them is none of integers. -#}
  {%- set fraction = tablestore_written_in('postgres') and part not in ('DAY', 'WEEK') -%}
  {{ 'cast(' if fraction }}{{ tablestore_function('timestampdiff') }}({{ part }},
  {%- for date in (first_date, second_date) -%}
    {%- if part == 'WEEK' %} {{ next_day }}(cast({{ date }} as date), 'SUN')
    {%- else %} {{ date_trunc }}('{{ part }}', cast({{ date }} as timestamp))
    {%- endif -%}
    {{ ',' if not loop.last }}
  {%- endfor %}){{ ' as double)' if fraction }}
{%- endmacro %}

{# A week of BigQuery begins on Sunday, and its ISO week on Monday, as in Spark. #}
{% macro tablestore__date_trunc(datepart, date) -%}
  {%- set date_trunc, add = tablestore_function('date_trunc'), tablestore_function('timestampadd') -%}
  {%- set part = datepart | trim | lower if tablestore_written_in('bigquery') else datepart -%}
  {%- if part == 'week' and tablestore_written_in('bigquery') -%}
    {{ add }}(DAY, -1, {{ date_trunc }}('week', {{ add }}(DAY, 1, cast({{ date }} as timestamp))))
  {%- else -%}
    {{ date_trunc }}('{{ 'week' if part == 'isoweek' else part }}', {{ date }})
  {%- endif -%}
{%- endmacro %}

{% macro tablestore_datepart(datepart, macro_name) -%}
  {%- set part = datepart | trim | upper -%}
  {%- set days = ('YEAR', 'QUARTER', 'MONTH', 'WEEK', 'DAY') -%}
  {%- if part not in days + ('HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND') -%}
    {% do exceptions.raise_compiler_error(macro_name ~ " does not know the datepart '" ~ datepart ~ "'") %}
  {%- endif -%}
  {% do return(part) %}
{%- endmacro %}
