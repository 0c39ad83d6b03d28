"""Relations: the names and columns of tables and views as dbt sees them, and what the catalog knows of them.

Knows `config`, may know `connection`, and asks the engine's catalog; never starts Spark.
"""
