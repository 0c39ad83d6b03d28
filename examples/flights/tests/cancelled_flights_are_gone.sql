select flights.*
from {{ ref('flights') }} as flights
join {{ ref('stg_flight_reports') }} as reports
    using (flight_date, origin, carrier, flight_number)
where reports.report = 'cancellation'
