"""Sets of row positions: Roaring bitmaps in their portable serialization, and deletion vectors made of them.

Knows nothing but numpy.
"""
