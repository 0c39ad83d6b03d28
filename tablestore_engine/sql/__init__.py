"""The SQL door: text becomes a statement value, and a query becomes the same text bound to pinned views.

``parse`` decides what a text asks for, ``bind`` finds the tables that a query reads. Both are pure:
nothing here touches files, the catalog or Spark; the store executes what they return.
"""
