-- Each hour of weather, with the flights that left more than an hour late in it, or have not left yet. An hour without
-- delays has one row, with nulls: a left join.
--
-- Nothing in these rows could be a key. The columns of the right side may be null; two flights of one carrier may be
-- equally late, and then the row is there twice. And yet rows have to go: a quiet hour's when a flight is held up after
-- all, a flight's when it is corrected or cancelled, and of two equal rows one.
--
-- A table without a key counts its rows. A run says of each row whether it comes or goes: all rows of the days that
-- the delivery changed go, and those that the join gives for these days now come. A row that does both adds up to
-- nothing, so only what has changed is written. Loading a delivery twice changes nothing.
{{ config(
    materialized='incremental',
    row_kind=true,
) }}

-- dbt reads the project as if for a first run and would miss the reference inside the condition:
-- depends_on: {{ ref('stg_flight_reports') }}
select
    '+I' as _row_kind,
    weather.origin,
    weather.observed_at,
    weather.visibility,
    weather.wind_speed,
    weather.precipitation,
    flights.carrier,
    flights.departure_delay
from {{ ref('stg_weather') }} as weather
left join {{ ref('flights') }} as flights
    on flights.origin = weather.origin
    and flights.flight_date = date(weather.observed_at)
    and hour(flights.scheduled_departure) = hour(weather.observed_at)
    and (flights.departure_delay > 60 or flights.departure_delay is null)
{% if is_incremental() %}
where date(weather.observed_at) in (select flight_date from {{ ref('stg_flight_reports') }})

union all

select '-D', *
from {{ this }}
where date(observed_at) in (select flight_date from {{ ref('stg_flight_reports') }})
{% endif %}
