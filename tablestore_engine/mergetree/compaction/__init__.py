"""The shape of a merge tree (levels, sorted runs, sections of overlapping files) and the decision what to merge.

Works on the metadata of files only; the merge itself is in `merge`, of which it knows the order of keys. Knows
`metadata` and `schema`.
"""
