-- Every flight, as it is known today.
--
-- A unique_key makes this a table with a primary key, and upsert its strategy: rows with a known key replace, rows
-- with a new one are added, and the cost follows the size of the delivery, not of the table. Loading a delivery
-- twice changes nothing.
--
-- Each delivery is read more than ten times, by models and tests, before the next one comes. So its rows are merged
-- into the table a little earlier than usual: with two runs in a bucket instead of five.
{{ config(
    materialized='incremental',
    unique_key=['flight_date', 'origin', 'carrier', 'flight_number'],
    buckets=2,
    table_options={'num-sorted-run.compaction-trigger': 2},
    post_hook="{{ remove_cancelled_flights() }}",
) }}

-- There is no is_incremental() here because the staging view holds what is new and nothing else.
select
    flight_date,
    origin,
    carrier,
    flight_number,
    destination,
    tail_number,
    scheduled_departure,
    departure_delay,
    arrival_delay,
    air_time,
    distance,
    delivery
from {{ ref('stg_flight_reports') }}
where report <> 'cancellation'
