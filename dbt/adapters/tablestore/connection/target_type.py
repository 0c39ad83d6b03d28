"""The name of this adapter, as projects and packages compare it.

Packages write what is Spark's behind `target.type == 'spark'` or `target.type in ['spark', 'databricks']`: how names
are quoted, which types seeds have, which of their tests make sense. Dispatch finds their `spark__` macros here, because
the adapter builds on dbt-spark's; comparing the type has the same answer, or a package would mix both.

Invariant: the name is written, hashed and looked up as `tablestore`. Only a comparison with Spark's name holds, too.
"""

from __future__ import annotations

NAME = "tablestore"
_SPARK = "spark"


class SparkLike(str):
    """`tablestore`, which is also equal to `spark`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or other == _SPARK

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__  # dbt finds adapters, packages and macros by this name
