-- Sums of changes: a new row counts once, a removed row counts back. The table adds them to what it holds.
{{ config(
    incremental_strategy='append',
    primary_key=['day', 'country'],
    merge_engine='aggregation',
    fields={'orders': 'sum', 'amount': 'sum'}
) }}

select
    day,
    country,
    sum({{ row_sign() }}) as orders,
    cast(sum(amount * {{ row_sign() }}) as decimal(18, 2)) as amount
from {{ changes(ref('enriched_orders')) }}
group by day, country
