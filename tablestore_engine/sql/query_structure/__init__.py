"""The structure of a query: which tables it names, where, in which scope and under which alias.

`table_references` passes over the tokens once, with `query_body` (clauses) and `from_item` (one table with its time
travel and alias); `query_structure` holds the values. Knows `tokens`.
"""
