-- A left join gives an hour nulls only when it finds nothing for it. A row with nulls beside others was not taken back.
select origin, observed_at
from {{ ref('weather_and_delays') }}
group by all
having count(carrier) between 1 and count(*) - 1
