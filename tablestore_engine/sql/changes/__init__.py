"""Statements that compute changed rows from rows of the table: UPDATE, DELETE, MERGE, INSERT … REPLACE WHERE.

`change_target` reads the table and writes the changed rows; with `former_partitions`, statements about a part of an old
partition become such changes. Knows `rows`, whose frames run the queries.
"""
