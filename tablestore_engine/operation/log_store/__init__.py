"""The log of a table: which snapshots it lacks, their publication, and reading it together with the table's files.

Knows the room `kafka`, which talks to the brokers, and what lies below `compact`.
"""
