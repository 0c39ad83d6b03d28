"""Predicates on casts of columns as predicates on the columns themselves: `CAST(id AS BIGINT) = 5` as `id = 5`.

Invariant: a cast is left out only where it fails for no value, keeps different values different and in their order, and
where both types compare exactly with the constants. So the predicate is true for the same rows.
"""

from __future__ import annotations

from tablestore_engine.operation.scan.stats_may_match import comparable
from tablestore_engine.schema.table.predicate import (
    And,
    Compare,
    In,
    OfCast,
    Or,
    Predicate,
    conjunction,
    disjunction,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import INTEGER_DIGITS, INTEGER_ROOTS, AtomicType, DataType


def without_casts(predicate: Predicate | None, schema: TableSchema) -> Predicate | None:
    """The predicate without casts. A part with a cast that does more than widen a type is left out; None if nothing is
    left."""
    if isinstance(predicate, And):
        known = [without_casts(child, schema) for child in predicate.children]
        return conjunction([one for one in known if one is not None])
    if isinstance(predicate, Or):
        choices = [without_casts(child, schema) for child in predicate.children]
        return None if None in choices else disjunction([one for one in choices if one is not None])
    if not isinstance(predicate, OfCast):
        return predicate
    if not schema.has_field(predicate.column) or not _widens(schema.field(predicate.column).type, predicate.type):
        return None
    inner = predicate.inner
    constants = inner.values if isinstance(inner, In) else (inner.value,) if isinstance(inner, Compare) else ()
    return inner if all(comparable(one, predicate.type) is not None for one in constants) else None


def _widens(own: DataType, to: DataType) -> bool:
    """Whether every value of a type is one of the other."""
    if not isinstance(own, AtomicType) or not isinstance(to, AtomicType):
        return False
    if own.as_nullable(True) == to.as_nullable(True) or (own.root, to.root) == ("VARCHAR", "STRING"):
        return True
    if own.root in INTEGER_ROOTS and to.root in INTEGER_ROOTS:
        return INTEGER_DIGITS[own.root] <= INTEGER_DIGITS[to.root]
    if to.root != "DECIMAL" or own.root not in (*INTEGER_ROOTS, "DECIMAL"):
        return False
    digits, scale = (INTEGER_DIGITS[own.root], 0) if own.root in INTEGER_ROOTS else _digits(own)
    return digits <= _digits(to)[0] and scale <= _digits(to)[1]


def _digits(kind: AtomicType) -> tuple[int, int]:
    """How many digits a decimal has before and after the point."""
    scale = kind.scale or 0
    return (kind.precision or 0) - scale, scale
