"""The SQL door: text becomes a statement value, and a query becomes the same text bound to pinned views.

``parse`` decides what a text asks for, ``query`` finds the tables that a query reads. Both are pure: they know no
files, no catalog and no Spark. ``catalog``, ``rows`` and ``procedures`` execute statements; ``execute`` chooses among
them.
"""
