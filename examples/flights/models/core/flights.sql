-- Every flight, as it is known today.
--
-- A unique_key makes this a table with a primary key, and upsert its strategy: rows with a known key replace, rows
-- with a new one are added, and the cost follows the size of the delivery, not of the table. With row_kind, the
-- column _row_kind says what a row does: a cancellation takes its flight out of the table. All of it is one commit: a
-- reader sees the flights before the delivery or after it. Loading a delivery twice changes nothing.
{{ config(
    materialized='incremental',
    unique_key=['flight_date', 'origin', 'carrier', 'flight_number'],
    row_kind=true,
    buckets=2,
) }}

-- There is no is_incremental() here because the staging view holds what is new and nothing else.
select
    if(report = 'cancellation', '-D', '+U') as _row_kind,
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
