"""One atomic change of a table.

`conflicts` decides whether the files of a change conflict with live ones, `read_conflicts` whether the commits in
between leave it as it was computed. `replace_table` swaps the schema of CREATE OR REPLACE, `commit_identity` recognises
a commit that was made already. The steps after a commit are in `table_commands`. Knows `scan` and `files`; writes
metadata only.
"""
