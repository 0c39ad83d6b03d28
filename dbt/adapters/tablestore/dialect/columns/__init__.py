"""Columns: the names that a query gives, and what is written by them: UNION BY NAME, `SELECT * REPLACE`; and the kinds
of numbers in quotients, by the columns that they come from.

Trees in, trees changed; knows the aliases and refusals of the room around it, and the kinds of numbers.
"""
