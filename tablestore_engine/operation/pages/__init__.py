"""Some rows of Parquet files: which pages may hold them, as the page index says, and reading no more than these.

Knows Arrow, and nothing of tables: files are open handles, columns are names in the file.
"""
