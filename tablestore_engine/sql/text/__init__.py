"""SQL as text: tokens, a cursor over them, literals, types, parameters and common table expressions.

Knows the values of statements, and nothing of tables.
"""
