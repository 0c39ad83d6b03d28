-- How each carrier does on each route. Small enough to be built anew each time; the old table stays readable until
-- the new one is complete.

select
    flights.origin,
    flights.destination,
    airports.name as destination_name,
    flights.carrier,
    airlines.name as carrier_name,
    count(*) as flights,
    max(flights.distance) as distance,
    round(avg(flights.arrival_delay), 2) as average_arrival_delay,
    count(flights.arrival_delay) as arrived,
    count_if(flights.arrival_delay <= 15) as on_time,
    round(try_divide(count_if(flights.arrival_delay <= 15), count(flights.arrival_delay)), 4) as share_on_time
from {{ ref('flights') }} as flights
join {{ ref('airlines') }} as airlines on airlines.carrier = flights.carrier
join {{ ref('airports') }} as airports on airports.code = flights.destination
group by all
