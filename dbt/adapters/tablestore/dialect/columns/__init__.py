"""Columns: the names that a query gives, and what is written by them: UNION BY NAME, `SELECT * REPLACE`.

Trees in, trees changed; knows the aliases and refusals of the room around it.
"""
