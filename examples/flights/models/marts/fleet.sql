-- One row per aircraft seen: its last carrier, and how much it flew.

select
    flights.tail_number,
    max_by(flights.carrier, struct(flights.scheduled_departure, flights.carrier, flights.flight_number)) as carrier,
    min(flights.flight_date) as first_seen,
    max(flights.flight_date) as last_seen,
    count(*) as flights,
    sum(flights.distance) as miles,
    any_value(planes.manufacturer) as manufacturer,
    any_value(planes.model) as model,
    any_value(planes.seats) as seats
from {{ ref('flights') }} as flights
left join {{ ref('stg_planes') }} as planes on planes.tail_number = flights.tail_number
where flights.tail_number is not null
group by flights.tail_number
