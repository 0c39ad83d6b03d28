"""Merge engines as a schema declares them: the rules of engines and aggregate functions, and the folds of a table.

Start with `engine_rules` and `aggregate_functions`. `mergetree.merge` merges records by them. Knows `types` of
`schema`, and `options`.
"""
