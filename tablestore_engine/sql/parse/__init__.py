"""Parsers: the text of a statement becomes a value. One module per family of statements; `parse` chooses the module.

May import text and statements; uses no catalog and no Spark.
"""
