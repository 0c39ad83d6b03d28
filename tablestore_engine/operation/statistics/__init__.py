"""Column statistics of data files: minima, maxima and null counts, collected while a file is written.

`column_stats` collects them from rows, `parquet_footer_stats` from the footer of a Parquet file. Those of ANALYZE TABLE
are elsewhere (`metadata.analyze_statistics`). Knows Arrow only.
"""
