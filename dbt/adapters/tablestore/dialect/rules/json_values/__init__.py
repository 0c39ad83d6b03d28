"""JSON values, which are texts here: Postgres' operators on them, what contains what, and JSON of many rows.

Imports the rules of JSON's parts, of aggregates and `counterparts`; `tree` and `functions` use it.
"""
