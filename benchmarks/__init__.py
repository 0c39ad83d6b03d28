"""Benchmarks: ratios measured in one run against Spark's own work on plain Parquet."""
