-- The messages since this model's last run, the newest of each order: new and changed orders replace, cancelled ones
-- are removed.
{{ config(incremental_strategy='changelog', unique_key='id') }}

select _row_kind, id, customer, day, amount
from {{ kafka_changes(source('shop', 'orders')) }}
