"""Use cases over files and metadata, without Spark: scan, write, commit, compact, read."""
