"""Sketches for approximate counts, as binary values that Paimon's readers understand.

Pure. Knows `arrow_kernels`, `metadata.bitmaps` and the functions of `schema.merge_engines`.
"""
