"""SQL as text: tokens, a cursor over them, literals, types, parameters and common table expressions.

May import the values of statements; does not use tables.
"""
