-- A left join gives an hour nulls only if no flight matches. An hour with nulls and other rows has an old row left.
select origin, observed_at
from {{ ref('weather_and_delays') }}
group by all
having count(carrier) between 1 and count(*) - 1
