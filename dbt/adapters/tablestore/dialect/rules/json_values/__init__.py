"""JSON values, which are texts here: Postgres' operators on them, what contains what, JSON of rows, rows of FLATTEN.

Imports the rules of JSON's parts, of aggregates and `counterparts`; `tree`, `functions` and `lists` use it.
"""
