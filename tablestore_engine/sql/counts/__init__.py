"""Queries that count the rows of one table, answered from the metadata of its files: no Spark job runs.

`count_query` reads the text, `known_counts` finds the number. Knows `pinned_queries`, and the rooms of `sql` below it.
"""
