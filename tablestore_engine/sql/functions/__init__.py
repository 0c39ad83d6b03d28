"""CREATE, DROP, DESCRIBE and SHOW FUNCTION: the functions that the warehouse keeps.

How a query calls them is in `query_frames`. Knows the context of statements in `write_statements`, and everything below
that room.
"""
