"""SQL as text: tokens, a cursor over them, constants, parameters, query hints, scripts and common table expressions.

`constants` reads values from text; `schema.types.sql_literals` writes them. Knows the values of statements, and types
and predicates of `schema`; nothing else of tables.
"""
