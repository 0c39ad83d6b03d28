"""The aggregate functions: one row a function, one column a rule; and which types each supports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeGuard

from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    has_map,
)

DEFAULT_FUNCTION = "last_non_null_value"


class RetractRule(Enum):
    """The meaning of a retraction for one column."""

    NEGATE = "a record of the negated value"
    CLEAR = "a record without a value"
    KEEP = "a record of the same value"
    IN_ORDER = "what it makes of the records before it, and only of them"
    REFUSE = "nothing: it cannot be written"


class Order(Enum):
    """The part of the order of records on which the result depends."""

    NONE = "nothing"
    NEWEST = "which record is the newest: an older one may come late where the user's columns say the order"
    ALL = "the order of all records: one that comes late cannot be put between others that are one row already"


@dataclass(frozen=True)
class FunctionRules:
    """One row of the table.

    `may_outgrow`: the fold of some records of a key may not fit the column where that of all of them does.
    `puts_late_first`: in a sequence group, the value of a record that comes late is put before what is there.
    `takes_out`: a map may take out what older records gave for a key, so it must meet all of them in order.
    `settings`: the options of a column that only these functions have, after 'fields.<column>.'.
    """

    retract: RetractRule = RetractRule.REFUSE
    order: Order = Order.ALL
    may_outgrow: bool = False
    puts_late_first: bool = False
    takes_out: bool = False
    settings: tuple[str, ...] = ()


_OF_KEYS, _OF_UPDATES = ("nested-key", "nested-key-null-strategy"), ("count-limit", "nested-sequence-field")
_ANY_ORDER = FunctionRules(order=Order.NONE)
FUNCTIONS = {
    "sum": FunctionRules(RetractRule.NEGATE, Order.NONE, may_outgrow=True),
    "count": FunctionRules(RetractRule.NEGATE, Order.NONE, may_outgrow=True),
    "product": FunctionRules(RetractRule.IN_ORDER, Order.NONE, may_outgrow=True),
    "max": _ANY_ORDER,
    "min": _ANY_ORDER,
    "bool_and": _ANY_ORDER,
    "bool_or": _ANY_ORDER,
    "last_value": FunctionRules(RetractRule.CLEAR, Order.NEWEST, puts_late_first=True),
    "last_non_null_value": FunctionRules(RetractRule.IN_ORDER, puts_late_first=True),
    "first_value": FunctionRules(puts_late_first=True),
    "first_non_null_value": FunctionRules(puts_late_first=True),
    "listagg": FunctionRules(puts_late_first=True, settings=("distinct", "list-agg-delimiter")),
    "collect": FunctionRules(RetractRule.IN_ORDER, settings=("distinct",)),
    "merge_map": FunctionRules(RetractRule.IN_ORDER, puts_late_first=True),
    "merge_map_with_keytime": FunctionRules(puts_late_first=True, takes_out=True, settings=("ts-field",)),
    "nested_update": FunctionRules(RetractRule.IN_ORDER, puts_late_first=True, settings=(*_OF_KEYS, *_OF_UPDATES)),
    "nested_partial_update": FunctionRules(puts_late_first=True, settings=_OF_KEYS),
    "primary-key": FunctionRules(RetractRule.KEEP, Order.NEWEST, puts_late_first=True),
    "hll_sketch": _ANY_ORDER,
    "theta_sketch": _ANY_ORDER,
    "rbm32": _ANY_ORDER,
    "rbm64": _ANY_ORDER,
}

_NUMBERS = (*INTEGER_ROOTS, "FLOAT", "DOUBLE")
UNORDERED = (*BINARY_ROOTS, "VARIANT")
_PRODUCT_DIGITS = 18  # of so many each, the product of two factors is a decimal of Spark's


def supports(function: str, data_type: DataType) -> bool:
    """Whether a function folds values of a type."""
    root = data_type.root if isinstance(data_type, AtomicType) else None
    if function in ("sum", "product"):
        return root in _NUMBERS or root == "DECIMAL"
    if function == "count":
        return root in ("INT", "BIGINT")
    if function in ("max", "min"):
        return root is not None and root not in UNORDERED
    if function in ("bool_and", "bool_or"):
        return root == "BOOLEAN"
    if function == "listagg":
        return root == "STRING"
    if function == "collect":
        return isinstance(data_type, ArrayType) and not has_map(data_type.element)
    if function == "merge_map":
        return isinstance(data_type, MapType) and data_type.key.is_atomic and not has_map(data_type.value)
    if function == "merge_map_with_keytime":
        value = data_type.value if isinstance(data_type, MapType) and data_type.key.is_atomic else None
        return isinstance(value, RowType) and len(value.fields) > 1 and not has_map(value)
    if function in ("hll_sketch", "theta_sketch", "rbm32", "rbm64"):
        return root in ("BYTES", "VARBINARY")
    if function == "nested_update":
        element = data_type.element if isinstance(data_type, ArrayType) else None
        return isinstance(element, RowType) and has_equality(element)
    if function == "nested_partial_update":
        return isinstance(data_type, ArrayType) and isinstance(data_type.element, RowType) and not has_map(data_type)
    return True


def retract_rule_of(function: str, data_type: DataType, *, ignores: bool, in_group: bool = False) -> RetractRule:
    """The meaning of a retraction for a column; `ignores` says that it has the option 'ignore-retract'."""
    if ignores:
        # Last values may be null, so a null record would not leave the retraction out.
        retract_rule = RetractRule.IN_ORDER if function in ("last_value", "primary-key") else RetractRule.CLEAR
    else:
        retract_rule = FUNCTIONS[function].retract
        if retract_rule is RetractRule.KEEP and in_group:
            retract_rule = RetractRule.IN_ORDER  # a record that comes late does not count, but a retraction does
    if retract_rule is not RetractRule.NEGATE and not data_type.nullable:
        return RetractRule.REFUSE  # a key that has only retractions would have no value
    if function == "product" and is_wide(data_type) and not ignores:
        return RetractRule.REFUSE  # a division by such factors leaves more digits than there are
    if function == "collect" and not ignores and isinstance(data_type, ArrayType):
        return retract_rule if has_equality(data_type.element) else RetractRule.REFUSE
    return retract_rule


def is_wide(data_type: DataType) -> TypeGuard[AtomicType]:
    """Whether a type is a DECIMAL of which Spark cannot multiply two values exactly."""
    return (
        isinstance(data_type, AtomicType)
        and data_type.root == "DECIMAL"
        and (data_type.precision or 0) > _PRODUCT_DIGITS
    )


def rounds(function: str, data_type: DataType) -> bool:
    """Whether each step of a fold rounds to the column's type, so that it depends on the steps before it."""
    if function != "product" or not isinstance(data_type, AtomicType):
        return False
    return data_type.root == "DECIMAL" and bool(data_type.scale)


def has_equality(data_type: DataType) -> bool:
    """Whether values can be compared for equality: atomic values, and rows of them."""
    if isinstance(data_type, RowType):
        return all(has_equality(f.type) for f in data_type.fields)
    return data_type.is_atomic
