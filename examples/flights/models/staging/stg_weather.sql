-- The weather at the airports, hour by hour: all observations that were delivered so far.

select
    origin,
    make_timestamp_ntz(year, month, day, hour, 0, 0) as observed_at,
    visib as visibility,
    wind_speed,
    precip as precipitation
from parquet.`{{ target.warehouse }}/../landing/weather`
