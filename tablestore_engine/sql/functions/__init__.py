"""CREATE, DROP, DESCRIBE and SHOW FUNCTION: the functions that the warehouse keeps.

How a query calls them is in `pinned_queries`. Knows the context of statements in `write_statements`, and all
rooms below it.
"""
