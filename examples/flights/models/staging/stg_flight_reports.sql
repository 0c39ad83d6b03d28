-- One delivery of the airports' report, cleaned. Each delivery is a Parquet file in a landing folder next to the
-- warehouse; an environment variable chooses the delivery of this run, as an orchestrator would:
--
--     FLIGHTS_DELIVERY=04 dbt build --select stg_flight_reports+
--
-- Spark reads a folder of Parquet files as a table: parquet.`path`. An environment variable, unlike a dbt variable,
-- lets dbt keep its parsed project between runs.

select
    report,                                   -- flown, correction or cancellation
    make_date(year, month, day) as flight_date,
    origin,
    carrier,
    flight as flight_number,
    dest as destination,
    tailnum as tail_number,
    -- 517 means 05:17 on the airport's clock
    make_timestamp_ntz(year, month, day, sched_dep_time div 100, sched_dep_time % 100, 0) as scheduled_departure,
    dep_delay as departure_delay,
    arr_delay as arrival_delay,
    air_time,
    distance,
    '{{ env_var("FLIGHTS_DELIVERY", "01") }}' as delivery
from parquet.`{{ target.warehouse }}/../landing/{{ env_var("FLIGHTS_DELIVERY", "01") }}`
