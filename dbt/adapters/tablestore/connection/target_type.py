"""The name of this adapter, as projects and packages compare it.

Packages guard their code for Spark by `target.type == 'spark'` or `target.type in ['spark', 'databricks']`: how names
are quoted, which types seeds have, which tests run. Dispatch finds the `spark__` macros of packages for this adapter,
because it declares dbt-spark as its parent. The comparison must agree with that, or a package would use a mixture.

Invariant: the name is written, hashed and looked up as `tablestore`; in addition it is equal to `spark`.
"""

from __future__ import annotations

NAME = "tablestore"
_SPARK = "spark"


class SparkLike(str):
    """The text `tablestore`, which is also equal to `spark`."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True or other == _SPARK

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__  # dbt finds adapters, packages and macros by this name
