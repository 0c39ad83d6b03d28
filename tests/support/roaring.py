"""Roaring bitmaps from numbers and back, in both formats."""

from __future__ import annotations

import numpy as np

from tablestore_engine.mergetree.sketch.roaring_bitmaps import FORMATS


def bitmap_of(numbers, function="rbm32"):
    """The bitmap of some numbers."""
    kind = np.int64 if function == "rbm32" else np.uint64
    return FORMATS[function].write(np.array(sorted(numbers), kind))


def numbers_of(data, function="rbm32"):
    """The numbers of a bitmap."""
    return FORMATS[function].read(data).tolist()
