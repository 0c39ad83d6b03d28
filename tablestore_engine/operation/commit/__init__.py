"""One atomic change of a table.

`conflicts` decides whether a commit conflicts with another, `replace` swaps the schema of CREATE OR REPLACE, `identity`
recognises a commit that was made already. What follows a commit is in `changes`. Knows `scan` and `files`; writes
metadata only.
"""
