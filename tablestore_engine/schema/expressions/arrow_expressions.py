"""An expression as a function of Arrow rows, if all of its parts have Spark's values in Arrow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from tablestore_engine.schema.expressions import computed_values as computed
from tablestore_engine.schema.expressions.common_types import (
    BOOLEAN,
    FLOATS,
    Found,
    Operand,
    UncertainError,
    compared_as,
)
from tablestore_engine.schema.expressions.expression import ColumnValue, Expression, Literal
from tablestore_engine.schema.expressions.found_values import (
    COMPARISONS,
    both_hold,
    compared,
    either_holds,
    first_value,
    null_safe_equal,
    opposite,
    scalar,
    stored,
    values_as,
)
from tablestore_engine.schema.types.types import INTEGER_ROOTS, AtomicType, DataField, DataType

_Build = Callable[..., Operand]
_SET_SIZE: Final = 10  # of a longer list Spark makes a set, in which it finds zeros of both signs apart


def condition(expression: Expression, fields: Sequence[DataField]) -> Callable[[pa.Table], Found] | None:
    """The condition that an expression on some columns is: for each row true, false or null. None when only Spark knows
    its values."""
    try:
        found = operand_of(expression, {one.name: one for one in fields})
        _check_boolean(found)
    except (UncertainError, RecursionError):
        return None
    return found.of


def certain_type(expression: Expression, fields: Sequence[DataField]) -> DataType | None:
    """The type of an expression on some columns that is not NULL; None when only Spark knows it."""
    try:
        return operand_of(expression, {one.name: one for one in fields}).kind
    except (UncertainError, RecursionError):
        return None


def operand_of(expression: Expression, fields: Mapping[str, DataField]) -> Operand:
    """An expression on some columns, and its values. Raises UncertainError when only Spark knows them."""
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, ColumnValue):
        return _column(fields[expression.name])
    build = _BUILT.get(expression.name)
    if build is None:
        raise UncertainError
    try:
        return build(*(operand_of(one, fields) for one in expression.arguments))
    except TypeError as error:  # another number of arguments
        raise UncertainError from error


def _literal(literal: Literal) -> Operand:
    if literal.type is None or literal.value is None:
        return Operand(None, lambda rows: Found(pa.scalar(None, pa.bool_())))
    found = Found(scalar(literal.value, literal.type))
    return Operand(literal.type, lambda rows: found, literal.value)


def _column(field: DataField) -> Operand:
    kind, name = field.type, field.name
    if isinstance(kind, AtomicType) and kind.is_atomic:
        return Operand(kind, lambda rows: Found(stored(rows.column(name), kind)))
    return Operand(kind, lambda rows: Found(rows.column(name).combine_chunks()))


def _check_boolean(*operands: Operand) -> None:
    for one in operands:
        if one.kind is not None:
            one.as_any("BOOLEAN")


def _comparison(op: str, one: Operand, other: Operand) -> Operand:
    a, b = _in_one_type((one, other))
    return Operand(BOOLEAN, lambda rows: compared(op, a(rows), b(rows)))


def _null_safe(one: Operand, other: Operand) -> Operand:
    for first, second in ((one, other), (other, one)):
        if second.kind is None:
            return _is_null(first)
    a, b = _in_one_type((one, other))
    return Operand(BOOLEAN, lambda rows: null_safe_equal(a(rows), b(rows)))


def _in_one_type(operands: Sequence[Operand]) -> list[Callable[[pa.Table], Found]]:
    kind = compared_as(operands) or BOOLEAN
    return [values_as(one, kind) for one in operands]


def _among(one: Operand, *others: Operand) -> Operand:
    kind = compared_as((one, *others)) or BOOLEAN
    if not others or (len(others) > _SET_SIZE and kind.root in FLOATS):
        raise UncertainError
    value, *listed = (values_as(each, kind) for each in (one, *others))

    def of(rows: pa.Table) -> Found:
        found = value(rows)
        return reduce(either_holds, (compared("=", found, each(rows)) for each in listed))

    return Operand(BOOLEAN, of)


def _between(one: Operand, low: Operand, high: Operand) -> Operand:
    return _logical(both_hold, _comparison(">=", one, low), _comparison("<=", one, high))


def _logical(join: Callable[[Found, Found], Found], one: Operand, other: Operand) -> Operand:
    _check_boolean(one, other)
    return Operand(BOOLEAN, lambda rows: join(one.of(rows), other.of(rows)))


def _not(one: Operand) -> Operand:
    _check_boolean(one)
    return Operand(BOOLEAN, lambda rows: opposite(one.of(rows)))


def _is_null(one: Operand) -> Operand:
    def of(rows: pa.Table) -> Found:
        found = one.of(rows)
        return Found(pc.is_null(found.values), found.unknown)

    return Operand(BOOLEAN, of)


def _is_nan(one: Operand) -> Operand:
    before = values_as(one, one.as_any(*FLOATS))

    def of(rows: pa.Table) -> Found:
        found = before(rows)
        return Found(pc.fill_null(pc.is_nan(found.values), False), found.unknown)

    return Operand(BOOLEAN, of)


def _first(one: Operand, *others: Operand) -> Operand:
    roots = {each.atomic.root for each in (one, *others)}
    kind = compared_as((one, *others))
    if kind is None or (len(roots) > 1 and not roots <= {*INTEGER_ROOTS, "DECIMAL"}):
        raise UncertainError
    values = [values_as(each, kind) for each in (one, *others)]
    return Operand(kind, lambda rows: reduce(first_value, (each(rows) for each in values)))


def _minus(one: Operand, *other: Operand) -> Operand:
    return computed.arithmetic("-", one, *other) if other else computed.negative(one)


_BUILT: Final[dict[str, _Build]] = {
    **{op: partial(_comparison, op) for op in COMPARISONS},
    "<=>": _null_safe,
    "IN": _among,
    "BETWEEN": _between,
    "AND": partial(_logical, both_hold),
    "OR": partial(_logical, either_holds),
    "NOT": _not,
    "IS NULL": _is_null,
    "LIKE": computed.like,
    "+": partial(computed.arithmetic, "+"),
    "-": _minus,
    "*": partial(computed.arithmetic, "*"),
    "/": computed.divided,
    "%": computed.remainder,
    "DIV": computed.whole_quotient,
    "||": computed.joined_texts,
    "ABS": computed.absolute,
    **dict.fromkeys(("COALESCE", "IFNULL", "NVL"), _first),
    "ISNAN": _is_nan,
    "ISNULL": _is_null,
    "ISNOTNULL": lambda one: _not(_is_null(one)),
    **dict.fromkeys(("LENGTH", "LEN", "CHAR_LENGTH", "CHARACTER_LENGTH"), computed.length),
    **dict.fromkeys(("UPPER", "UCASE"), partial(computed.in_case, upper=True)),
    **dict.fromkeys(("LOWER", "LCASE"), partial(computed.in_case, upper=False)),
    **{name: partial(computed.trimmed, name) for name in ("TRIM", "LTRIM", "RTRIM")},
}
