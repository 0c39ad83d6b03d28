-- The primary key promises this; a test that asks is cheap.
select flight_date, origin, carrier, flight_number
from {{ ref('flights') }}
group by all
having count(*) > 1
