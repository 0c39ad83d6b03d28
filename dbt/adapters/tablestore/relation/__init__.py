"""Relations and columns as dbt sees them, and their metadata: catalog, freshness.

Knows `config` and `connection`.
"""
