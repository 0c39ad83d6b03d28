"""Databases, tables, views and functions of one warehouse folder, which is the catalog itself.

`catalog` is the door; `folders` finds databases and tables; `view_and_function_store` stores views and functions;
`builds` fills tables that are visible from the start; `log_topics` makes and deletes the topics of tables
with a log. Knows tables and what lies below them. Nothing here needs Spark.
"""

from __future__ import annotations

from tablestore_engine.catalog.catalog import DEFAULT_DATABASE, Catalog, View

__all__ = ["DEFAULT_DATABASE", "Catalog", "View"]
