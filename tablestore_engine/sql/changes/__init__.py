"""Statements that compute changed rows from rows of the table: UPDATE, DELETE, MERGE, INSERT … REPLACE WHERE.

`change_target` reads the table and writes the changed rows. Knows `rows`, whose frames run the queries.
"""
