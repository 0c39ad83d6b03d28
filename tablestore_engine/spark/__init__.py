"""The engine on PySpark.

Besides these rooms, only the front door, the command line, the rooms of `sql` that handle rows, and the adapter import
it.
"""
