"""CREATE, DROP, DESCRIBE and SHOW FUNCTION: the functions that the warehouse keeps.

How a query calls them is in `frames`, which this room may import, with everything below it.
"""
