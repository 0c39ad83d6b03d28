"""The views that a query reads: their columns and types, how deep they are nested, and those that stay bound.

`bound_reads` notes what a bound text reads, `kept_views` finds a view that an earlier statement of the session bound,
and `text_facts` reads facts from texts. Knows `catalog`, `spark` and the rooms of `sql` below it.
"""
