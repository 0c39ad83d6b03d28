"""One data file: writing with statistics, reading with evolution, deletion vectors, index files, spilling.

Knows `storage` and what lies below it. Nothing here knows of snapshots that change.
"""
