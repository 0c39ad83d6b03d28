"""Tables without a key that take retractions: rows and how often each is there.

The top room of `mergetree`. Pure: Arrow tables and the metadata of files, no files.
"""
