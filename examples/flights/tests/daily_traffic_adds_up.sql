-- The daily figures were computed delivery by delivery; together they must be the whole table.
select days.flights, whole.flights as expected
from (select sum(flights) as flights from {{ ref('daily_traffic') }}) as days
cross join (select count(*) as flights from {{ ref('flights') }}) as whole
where days.flights <> whole.flights
