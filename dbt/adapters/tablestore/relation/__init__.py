"""Relations: the names and columns of tables and views as dbt sees them, and what the catalog knows of them.

May know `config` and `connection`. Asks the engine's catalog; never starts Spark.
"""
