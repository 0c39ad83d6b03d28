-- A list of the best is no sum: for each country of which a total changed, its three ranks are computed anew. A rank
-- that no day has is deleted.
{{ config(incremental_strategy='changelog', unique_key=['country', 'rank_number']) }}

with changed as (
    select distinct country from {{ changes(ref('daily_totals')) }}
),

ranked as (
    select
        totals.country,
        totals.day,
        totals.amount,
        row_number() over (partition by totals.country order by totals.amount desc, totals.day) as rank_number
    from {{ pinned(ref('daily_totals')) }} as totals
    join changed on changed.country = totals.country
    where totals.orders > 0
),

numbers as (
    select country, explode(array(1, 2, 3)) as rank_number from changed
)

select
    if(ranked.rank_number is null, '-D', '+I') as _row_kind,
    numbers.country,
    numbers.rank_number,
    ranked.day,
    ranked.amount
from numbers
left join ranked on ranked.country = numbers.country and ranked.rank_number = numbers.rank_number
