"""The SQL door: text becomes a statement value, and a query becomes the same text bound to pinned views.

``parse`` decides what a text asks for, ``query_structure`` finds the tables that a query names, ``query`` binds them.
All three are pure: they know no files, no catalog and no Spark. ``pinned_queries`` makes DataFrames of queries.
``catalog``, ``write_statements``, ``row_level``, ``functions`` and ``procedures`` execute statements; ``execute``
chooses among them.

Knows the catalog, tables, `operation`, `spark` and the pure rooms below them; of the front door nothing.
"""
