"""A table as a DataFrame: scans of files, merging on read, deletion vectors, retractions.

Knows `run` and `expressions`; writes nothing.
"""
