"""The aggregate functions: which types each supports, what it makes of a retraction, and whether order matters to
it."""

from __future__ import annotations

from tablestore_engine.schema.merge.merge_engine import RetractRule
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
)

DEFAULT_FUNCTION = "last_non_null_value"
ANY_ORDER = ("sum", "count", "product", "max", "min", "bool_and", "bool_or", "last_value", "hll_sketch", "theta_sketch")
"""Functions whose result does not change when an older record comes late: where users say how records are ordered."""

_NUMBERS = (*INTEGER_ROOTS, "FLOAT", "DOUBLE")
_UNORDERED = (*BINARY_ROOTS, "BOOLEAN", "VARIANT")
_PRODUCT_DIGITS = 18  # two factors fit into Spark's and Arrow's widest decimal
_RETRACT_RULES = {
    "sum": RetractRule.NEGATE,
    "count": RetractRule.NEGATE,
    "last_value": RetractRule.CLEAR,
    "last_non_null_value": RetractRule.IN_ORDER,
    "product": RetractRule.IN_ORDER,
    "collect": RetractRule.IN_ORDER,
    "merge_map": RetractRule.IN_ORDER,
    "nested_update": RetractRule.IN_ORDER,
}


def supports(function: str, data_type: DataType) -> bool:
    """Whether a function folds values of a type."""
    root = data_type.root if isinstance(data_type, AtomicType) else None
    if function == "sum":
        return root in _NUMBERS or root == "DECIMAL"
    if function == "product":
        digits = data_type.precision if isinstance(data_type, AtomicType) else None
        return root in _NUMBERS or (root == "DECIMAL" and digits is not None and digits <= _PRODUCT_DIGITS)
    if function == "count":
        return root in ("INT", "BIGINT")
    if function in ("max", "min"):
        return root is not None and root not in _UNORDERED
    if function in ("bool_and", "bool_or"):
        return root == "BOOLEAN"
    if function == "listagg":
        return root == "STRING"
    if function == "collect":
        return isinstance(data_type, ArrayType) and not _holds_map(data_type.element)
    if function == "merge_map":
        return isinstance(data_type, MapType) and data_type.key.is_atomic and not _holds_map(data_type.value)
    if function in ("hll_sketch", "theta_sketch"):
        return root in ("BYTES", "VARBINARY")
    if function == "nested_update":
        element = data_type.element if isinstance(data_type, ArrayType) else None
        return isinstance(element, RowType) and _has_equality(element)
    return True


def retract_rule_of(function: str, data_type: DataType, *, ignores: bool) -> RetractRule:
    """What a retraction means to a column; `ignores` says that the table leaves retractions out of it."""
    if ignores:
        # Where nulls count, a null in its place does not leave the retraction out. In front of all values it stays a
        # null: one row already, it could not tell that it has no first value yet.
        retract_rule = RetractRule.IN_ORDER if function == "last_value" else RetractRule.CLEAR
    else:
        retract_rule = _RETRACT_RULES.get(function, RetractRule.REFUSE)
    if retract_rule is not RetractRule.NEGATE and not data_type.nullable:
        return RetractRule.REFUSE  # of a key with nothing but retractions nothing is left
    if function == "collect" and not ignores and isinstance(data_type, ArrayType):
        return retract_rule if _has_equality(data_type.element) else RetractRule.REFUSE
    return retract_rule


def rounds(function: str, data_type: DataType) -> bool:
    """Whether each step of a fold rounds to the column's type, so that it depends on the steps before it."""
    if function != "product" or not isinstance(data_type, AtomicType):
        return False
    return data_type.root == "DECIMAL" and bool(data_type.scale)


def _holds_map(data_type: DataType) -> bool:
    """Whether a map is somewhere inside: maps have no order, which sorting records asks for."""
    if isinstance(data_type, ArrayType):
        return _holds_map(data_type.element)
    if isinstance(data_type, RowType):
        return any(_holds_map(f.type) for f in data_type.fields)
    return isinstance(data_type, MapType)


def _has_equality(data_type: DataType) -> bool:
    """Whether values can be told apart: single values, and rows of them."""
    if isinstance(data_type, RowType):
        return all(_has_equality(f.type) for f in data_type.fields)
    return data_type.is_atomic
