-- What each carrier reported, counted while the reports arrive.
--
-- A merge engine folds the rows of a key: this model writes the counts of one delivery, and the table adds them up.
-- No earlier delivery is read again: the table keeps only their sums, and the number of the newest delivery, so that a
-- delivery that is built twice is counted once.
{{ config(
    materialized='incremental',
    unique_key='carrier',
    merge_engine='aggregation',
    fields={'flown': 'sum', 'corrections': 'sum', 'cancellations': 'sum', 'latest_delivery': 'max'},
) }}

select
    carrier,
    count_if(report = 'flown') as flown,
    count_if(report = 'correction') as corrections,
    count_if(report = 'cancellation') as cancellations,
    max(delivery) as latest_delivery
from {{ ref('stg_flight_reports') }}
{% if is_incremental() %}
where delivery > (select max(latest_delivery) from {{ this }})
{% endif %}
group by carrier
