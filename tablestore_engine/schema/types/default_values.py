"""The default value of a column: what it has in a row for which a statement gives no value.

The schema file keeps it as a text, in the field `defaultValue`. A *constant* is a text that Paimon's writers cast to
the column's type: `5`, `'a b'` with or without quotes, `[1, 2]`, `{k -> v}` for a map, `{1, x}` for a row. Any other
text is an *expression* of Spark's SQL. In a column of text every text is a constant, except `(CAST(… AS STRING))`.

A constant is a *tree*: None or a text for one value, a list for an ARRAY, a list of pairs for a MAP, a tuple for a ROW.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any, Final

import pyarrow as pa

from tablestore_engine.errors import SchemaError
from tablestore_engine.schema.types.arrow import to_arrow_type
from tablestore_engine.schema.types.sql_literals import declared_type, literal, quoted_text
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    INTEGER_ROOTS,
    NULL_DEFAULT,
    STRING_ROOTS,
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
)

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NOT_FINITE: Final = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
_BOOLEANS: Final = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
_TIME: Final = re.compile(r"[+-]?\d{1,6}(-\d{1,2}(-\d{1,2}([T ].*)?)?)?|\d{1,2}:\d{2}.*")
_TEXT_HEAD, _TEXT_TAIL = "(CAST(", " AS STRING))"
_OPENING, _CLOSING = "([{<", ")]}>"


@dataclass(frozen=True)
class Expression:
    """A default that is computed when rows are written."""

    sql: str


def expression_text(sql: str, kind: DataType) -> str:
    """The stored text of an expression."""
    return f"{_TEXT_HEAD}{sql}{_TEXT_TAIL}" if _is_text(kind) else sql


def parsed_default(field: DataField) -> Any | Expression:
    """The constant or expression of a column; a column without a default has the constant None."""
    text = field.default_value
    return None if text is None or text == NULL_DEFAULT else _parsed(text, field)


def _parsed(text: str, field: DataField) -> Any | Expression:
    kind = field.type
    if isinstance(kind, AtomicType):
        quoted = len(text) > 1 and text[0] == text[-1] == "'"
        bare = text[1:-1] if quoted else text
        if _is_text(kind):
            is_expression = text.startswith(_TEXT_HEAD) and text.endswith(_TEXT_TAIL)
            return Expression(text[len(_TEXT_HEAD) : -len(_TEXT_TAIL)]) if is_expression else bare
        return bare if quoted or _looks_constant(bare, kind) else Expression(text)
    if text.strip()[:1] not in ("[", "{"):
        return Expression(text)
    try:
        return _tree(text, kind)
    except ValueError as error:
        raise SchemaError(
            f"Column '{field.name}' has the default value {text}, which is no value of {kind}: {error}.",
            hint="Set another one: ALTER TABLE … ALTER COLUMN … SET DEFAULT ….",
        ) from None


def _is_text(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.root in STRING_ROOTS


def _looks_constant(text: str, kind: AtomicType) -> bool:
    text = text.strip()
    if kind.root == "BOOLEAN":
        return text.lower() in _BOOLEANS
    if kind.root in ("DATE", "TIME", *TIMESTAMP_ROOTS):
        return bool(_TIME.fullmatch(text))
    if kind.root in BINARY_ROOTS:
        return not re.fullmatch(r"(?i)x'.*'|.*\(.*\).*", text)
    if kind.root in ("FLOAT", "DOUBLE") and _NOT_FINITE.fullmatch(text):
        return True
    return bool(_NUMBER.fullmatch(text))


# -- constants of nested types ----------------------------------------------------------------------------


def _tree(text: str, kind: DataType) -> Any:
    text = text.strip()
    if text == "null":
        return None
    if isinstance(kind, AtomicType):
        return text
    opening, closing = ("[", "]") if isinstance(kind, ArrayType) else ("{", "}")
    if text[:1] != opening or text[-1:] != closing:
        raise ValueError(f"{text} is not in {opening}{closing}")
    inside = text[1:-1].strip()
    parts = [one.strip() for one in _split(inside)] if inside else []
    if isinstance(kind, ArrayType):
        return [_tree(one, kind.element) for one in parts]
    if isinstance(kind, MapType):
        return [_pair(one, kind) for one in parts]
    assert isinstance(kind, RowType)
    if not parts:
        return (None,) * len(kind.fields)
    if len(parts) != len(kind.fields):
        raise ValueError(f"{len(kind.fields)} fields are expected")
    return tuple(_tree(one, field.type) for one, field in zip(parts, kind.fields, strict=True))


def _pair(text: str, kind: MapType) -> tuple[Any, Any]:
    key, arrow, value = text.replace('"', "").partition("->")
    if not arrow:
        raise ValueError(f"{text} has no ->")
    return _tree(key, kind.key), _tree(value, kind.value)


def _split(text: str) -> Iterator[str]:
    """The parts between commas that are in no brackets and no double quotes."""
    start, depth, quoted, escaped = 0, 0, False, False
    for at, char in enumerate(text):
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif not quoted:
            arrow = char == ">" and text[at - 1 : at] == "-"
            depth += (char in _OPENING) - (char in _CLOSING and not arrow and depth > 0)
            if char == "," and depth == 0:
                yield text[start:at]
                start = at + 1
    yield text[start:]


# -- as SQL and as Arrow ----------------------------------------------------------------------------------


def default_value_sql(field: DataField, type_sql: Callable[[DataType], str]) -> str:
    """SQL of the default, of the column's type; null without one. `type_sql` is a type in a cast.

    Raises:
        SchemaError: a text that another writer stored, and that cannot be read.
    """
    found = parsed_default(field)
    if isinstance(found, Expression):
        return f"cast(({found.sql}) as {type_sql(field.type)})"
    return _constant_sql(found, field.type, type_sql)


def declared_default(field: DataField) -> str | None:
    """The default as a column definition declares it; None without one."""
    if field.default_value is None:
        return None
    found = parsed_default(field)
    if isinstance(found, Expression):
        return found.sql
    if found is None or not isinstance(field.type, AtomicType):
        return "NULL" if found is None else _constant_sql(found, field.type, declared_type)
    bare = _NUMBER.fullmatch(found.strip()) or found.lower() in ("true", "false")
    return found.strip() if bare and field.type.root not in STRING_ROOTS else quoted_text(found)


def _constant_sql(tree: Any, kind: DataType, type_sql: Callable[[DataType], str]) -> str:
    if tree is None:
        return f"cast(null as {type_sql(kind)})"
    if isinstance(kind, AtomicType):
        return f"cast({literal(tree)} as {type_sql(kind)})"
    parts: list[str] = []
    if isinstance(kind, ArrayType):
        function, parts = "array", [_constant_sql(one, kind.element, type_sql) for one in tree]
    elif isinstance(kind, MapType):
        sides = (kind.key, kind.value)
        parts = [_constant_sql(one, side, type_sql) for pair in tree for one, side in zip(pair, sides, strict=True)]
        function = "map"
    else:
        assert isinstance(kind, RowType)
        function = "named_struct"
        for one, field in zip(tree, kind.fields, strict=True):
            parts += [literal(field.name), _constant_sql(one, field.type, type_sql)]
    return f"cast({function}({', '.join(parts)}) as {type_sql(kind)})"


def default_scalar(field: DataField) -> pa.Scalar:
    """The default as an Arrow value; null without one.

    Raises:
        SchemaError: an expression, which only Spark evaluates, or a text that is no value of the type.
    """
    found = parsed_default(field)
    if isinstance(found, Expression):
        raise SchemaError(
            f"Column '{field.name}' is missing in the rows, and its default {found.sql} is computed by Spark.",
            hint="Give the column, or write the rows by SQL or as a Spark DataFrame.",
        )
    try:
        return pa.scalar(_python(found, field.type), to_arrow_type(field.type))
    except (ValueError, ArithmeticError, pa.ArrowException):
        raise SchemaError(
            f"Column '{field.name}' cannot have the default value {field.default_value}: it is no value of "
            f"{field.type}.",
            hint="Use another default value.",
        ) from None


def _python(tree: Any, kind: DataType) -> Any:
    if tree is None:
        return None
    if isinstance(kind, ArrayType):
        return [_python(one, kind.element) for one in tree]
    if isinstance(kind, MapType):
        return [(_python(key, kind.key), _python(value, kind.value)) for key, value in tree]
    if isinstance(kind, RowType):
        return {f.name: _python(one, f.type) for one, f in zip(tree, kind.fields, strict=True)}
    assert isinstance(kind, AtomicType)
    return _atom(tree, kind)


def _atom(text: str, kind: AtomicType) -> Any:
    if kind.root in STRING_ROOTS:
        return _fitting_text(text, kind)
    if kind.root in BINARY_ROOTS:
        return text.encode()
    text = text.strip()
    if kind.root == "BOOLEAN":
        if text.lower() not in _BOOLEANS:
            raise ValueError("true or false is expected")
        return _BOOLEANS[text.lower()]
    if kind.root in INTEGER_ROOTS:
        return int(text)
    if kind.root == "DECIMAL":
        return _decimal(text, kind)
    if kind.root in ("FLOAT", "DOUBLE"):
        return float(text)
    if kind.root == "DATE":
        return date.fromisoformat(text)
    if kind.root == "TIME":
        return time.fromisoformat(text)
    if kind.root in TIMESTAMP_ROOTS:
        # Before Python 3.11 fromisoformat takes only 3 or 6 digits of a second.
        digits = re.sub(r"\.(\d+)", lambda found: f".{found[1][:6]:0<6}", text)
        found = datetime.fromisoformat(digits.replace("Z", "+00:00"))
        if (found.tzinfo is None) == (kind.root == "TIMESTAMP_LTZ"):
            raise ValueError("a time of no zone and one of a zone are different")
        return found
    raise ValueError("it is not known here")


def _decimal(text: str, kind: AtomicType) -> Decimal:
    number = Decimal(text)
    return number.quantize(Decimal(1).scaleb(-(kind.scale or 0)), ROUND_HALF_UP, Context(prec=80))


def _fitting_text(text: str, kind: AtomicType) -> str:
    if kind.precision is not None and len(text) > kind.precision:
        raise ValueError(f"it has {len(text)} characters")
    return text.ljust(kind.precision or 1) if kind.root == "CHAR" else text
