-- What changed in orders since this model's last run, joined with customers. Customers do not change, so that the
-- changes of orders are enough.
{{ config(incremental_strategy='changelog', unique_key='id') }}

select changed._row_kind, changed.id, customers.country, changed.day, changed.amount
from {{ changes(ref('orders')) }} as changed
join {{ pinned(ref('customers')) }} as customers on customers.customer = changed.customer
