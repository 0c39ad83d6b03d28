"""From text to a statement value. One module for each family of statements; `parse` chooses among them.

Knows text and statements. No catalog, no Spark.
"""
