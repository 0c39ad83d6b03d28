"""Folding columns of sketches and bitmaps: what hll_sketch, theta_sketch, rbm32 and rbm64 make of them.

One sketch of a group stays as it is, several are united by the module of their kind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from tablestore_engine.errors import ExecutionError
from tablestore_engine.mergetree.arrow_kernels.compare_values import Indices, Mask, valid_mask
from tablestore_engine.mergetree.sketch import hll_sketch, theta_sketch
from tablestore_engine.mergetree.sketch.roaring_bitmaps import FORMATS
from tablestore_engine.schema.merge_engines.merge_engine import Fold

_SHOWN = 8


@dataclass(frozen=True)
class _Kind:
    name: str
    hint: str
    are_sketches: Callable[[pa.Array], Mask]
    union: Callable[[pa.Array, Indices, int], pa.Array]


_KINDS = {
    "hll_sketch": _Kind(
        "HLL sketches of Apache DataSketches",
        "Spark's hll_sketch_agg makes them.",
        hll_sketch.are_sketches,
        hll_sketch.union,
    ),
    "theta_sketch": _Kind(
        "Theta sketches of Apache DataSketches",
        "Spark's theta_sketch_agg makes them.",
        theta_sketch.are_sketches,
        theta_sketch.union,
    ),
    "rbm32": _Kind(
        "Roaring bitmaps of 32-bit numbers",
        "RoaringBitmap of Java and BitMap of pyroaring serialize to them.",
        FORMATS["rbm32"].are_bitmaps,
        FORMATS["rbm32"].union,
    ),
    "rbm64": _Kind(
        "Roaring bitmaps of 64-bit numbers",
        "Roaring64Bitmap of Java serializes to them.",
        FORMATS["rbm64"].are_bitmaps,
        FORMATS["rbm64"].union,
    ),
}
SKETCHES = tuple(_KINDS)


def check_sketches(fold: Fold, values: pa.Array) -> None:
    """Raise an ExecutionError for a value, not null, that is no sketch of the column's function."""
    kind, present = _KINDS[fold.function], values.drop_null()
    wrong = np.flatnonzero(~kind.are_sketches(present))
    if len(wrong):
        given = present[int(wrong[0])].as_py()
        shown = given[:_SHOWN].hex() + ("…" if len(given) > _SHOWN else "")
        raise ExecutionError(
            f"Column '{fold.column}' takes {kind.name}, and X'{shown}' is not one.",
            hint=kind.hint,
        )


def fold_sketches(fold: Fold, values: pa.Array, ids: Indices, count: int) -> pa.Array:
    """The union of the values of each of `count` groups; `ids`, which ascend, say to which a value belongs.

    Raises:
        ExecutionError: a value is no sketch, or sketches do not go together.
    """
    check_sketches(fold, values)
    rows = np.flatnonzero(valid_mask(values))
    owners = ids[rows]
    source = np.full(count, -1)
    source[owners] = rows
    several = np.bincount(owners, minlength=count) > 1
    if not several.any():
        return values.take(pa.array(source, mask=source < 0))
    many = several[owners]
    numbers = np.cumsum(several) - 1
    united = _KINDS[fold.function].union(values.take(pa.array(rows[many])), numbers[owners[many]], int(several.sum()))
    source[several] = len(values) + np.arange(int(several.sum()))
    return pa.concat_arrays([values, united.cast(values.type)]).take(pa.array(source, mask=source < 0))
