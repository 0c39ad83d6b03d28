-- The aircraft registry, delivered once.

select
    tailnum as tail_number,
    year as built,
    manufacturer,
    model,
    seats
from parquet.`{{ target.warehouse }}/../landing/planes`
