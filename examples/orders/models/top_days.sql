-- A list of the best is no sum: for each country of which a total changed, its three places are computed anew. A place
-- that nothing takes is deleted.
{{ config(incremental_strategy='changelog', unique_key=['country', 'place']) }}

with changed as (
    select distinct country from {{ changes(ref('daily_totals')) }}
),

ranked as (
    select
        totals.country,
        totals.day,
        totals.amount,
        row_number() over (partition by totals.country order by totals.amount desc, totals.day) as place
    from {{ pinned(ref('daily_totals')) }} as totals
    join changed on changed.country = totals.country
    where totals.orders > 0
),

places as (
    select country, explode(array(1, 2, 3)) as place from changed
)

select
    if(ranked.place is null, '-D', '+I') as _row_kind,
    places.country,
    places.place,
    ranked.day,
    ranked.amount
from places
left join ranked on ranked.country = places.country and ranked.place = places.place
