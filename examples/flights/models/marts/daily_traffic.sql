-- One row per day. A delivery changes some days, by new flights, corrections or cancellations; these days are
-- computed anew from `flights` and replaced as a whole, all others stay as they are.
{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key='flight_date',
    primary_key='flight_date',
) }}

-- dbt reads the project as if for a first run and would miss the reference inside the condition:
-- depends_on: {{ ref('stg_flight_reports') }}
select
    flight_date,
    count(*) as flights,
    count(arrival_delay) as arrived,
    count_if(arrival_delay > 15) as late,
    sum(greatest(arrival_delay, 0)) as minutes_lost,
    round(avg(departure_delay), 2) as average_departure_delay,
    max(departure_delay) as longest_departure_delay
from {{ ref('flights') }}
{% if is_incremental() %}
where flight_date in (select flight_date from {{ ref('stg_flight_reports') }})
{% endif %}
group by flight_date
