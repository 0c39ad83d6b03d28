"""File indexes: for one data file and some of its columns, which values it holds, so that point queries skip the file.

Paimon's format (`file-index.*`): the container of several indexes, bloom filters and bitmap indexes. Pure: Arrow arrays
and bytes. Knows `metadata.bitmaps` and `schema`.
"""
