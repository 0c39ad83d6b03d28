"""Tables without a key that take retractions: rows and how often each is there.

The top room of `mergetree`: knows `compaction`, what lies below it, and `metadata`. Pure: Arrow tables and the metadata
of files, no files.
"""
