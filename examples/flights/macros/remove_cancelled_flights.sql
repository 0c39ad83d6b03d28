{# Takes the flights that the current delivery cancels out of the table. One statement, one commit: a reader sees the
   flights before it or after it. Run as a post-hook, that is after the delivery's other rows have been upserted. #}
{% macro remove_cancelled_flights() %}
merge into {{ this }} as flights
using (
    select flight_date, origin, carrier, flight_number
    from {{ ref('stg_flight_reports') }}
    where report = 'cancellation'
) as cancelled
on flights.flight_date = cancelled.flight_date
    and flights.origin = cancelled.origin
    and flights.carrier = cancelled.carrier
    and flights.flight_number = cancelled.flight_number
when matched then delete
{% endmacro %}
