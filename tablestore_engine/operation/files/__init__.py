"""One data file: writing with statistics, reading with evolution, deletion vectors, index files, spilling.

Knows `formats`, `statistics` and `pages`, a table's state, `storage` and what lies below it. Nothing here knows of
snapshots that change.
"""
