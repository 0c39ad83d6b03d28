"""Kinds of columns, where the text or the tables show them: a variant, a JSON text, a list, an array of rows.

Spark decides by types, which sqlglot does not know. So the tree is searched for the value of a column, through
subqueries and common table expressions; a column of a table has the type that the table says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.aliases import cte_of, sources_of
from dbt.adapters.tablestore.dialect.refusal import Columns
from dbt.adapters.tablestore.dialect.rules.intervals import DAYS, is_date
from dbt.adapters.tablestore.dialect.rules.json_values.given import branches, gives_json, gives_part, taken_values
from dbt.adapters.tablestore.dialect.rules.json_values.operators import WITH_OPERATOR, makes_json
from dbt.adapters.tablestore.dialect.rules.numbers.interval_texts import STAMP, differing_columns
from dbt.adapters.tablestore.dialect.rules.numbers.kinds import INT, MARK

_MOST_LEVELS: Final = 50
_PARSING: Final = frozenset(["TRY_PARSE_JSON", "TO_VARIANT_OBJECT", "VARIANT_GET", "TRY_VARIANT_GET"])


@dataclass(frozen=True)
class Kind:
    """A kind of values: of_value says whether an expression is surely one, of_type the same of a type's text.

    through: expressions that have the kind of their first argument.
    """

    of_value: Callable[[exp.Expr], bool]
    of_type: Callable[[str], bool]
    through: tuple[type[exp.Expr], ...] = ()


def is_surely(kind: Kind, value: exp.Expr, columns_of: Columns | None, levels: int = _MOST_LEVELS) -> bool:
    """Whether a value is of a kind for sure."""
    value = value.unnest()
    if kind.of_value(value):
        return True
    if isinstance(value, (exp.JSONExtract, *kind.through)):
        return is_surely(kind, value.this, columns_of, levels)
    leaves = [one for one in branches(value) if not isinstance(one, exp.Null)] if kind.through else [value]
    if leaves != [value]:
        return bool(leaves) and all(is_surely(kind, one, columns_of, levels) for one in leaves)
    select = value.find_ancestor(exp.Select) if isinstance(value, exp.Column) and levels else None
    return select is not None and _gives(kind, select, value, columns_of, levels - 1)


def _gives(kind: Kind, select: exp.Select, column: exp.Expr, columns_of: Columns | None, levels: int) -> bool:
    """Whether a source of a query has such a column of this name."""
    table, name = getattr(column, "table", ""), column.name.lower()
    for source in sources_of(select):
        if table and source.alias_or_name.lower() != table.lower():
            continue
        if isinstance(source, (exp.Lateral, exp.TableFromRows)) and kind is JSON_TEXT:
            flattened = _flattened(source)
            if flattened is not None and name in ("value", "this") and is_surely(kind, flattened, columns_of, levels):
                return True
        query: exp.Expr | None = source.this if isinstance(source, exp.Subquery) else None
        if isinstance(source, exp.Values) and _holds(kind, source, name, columns_of, levels):
            return True
        if isinstance(source, exp.Table):
            named = None if source.db else cte_of(source)
            query = None if named is None else named.this
            types = columns_of([one.name for one in source.parts]) if columns_of is not None and query is None else None
            if types and any(key.lower() == name and kind.of_type(types[key].lower()) for key in types):
                return True
        if query is not None and _outputs(kind, query, column, columns_of, levels):
            return True
    return False


def _holds(kind: Kind, values: exp.Values, name: str, columns_of: Columns | None, levels: int) -> bool:
    """Whether a column of VALUES has values of a kind only."""
    alias = values.args.get("alias")
    names = [one.name.lower() for one in alias.columns] if isinstance(alias, exp.TableAlias) else []
    if name not in names or not levels:
        return False
    at = names.index(name)
    rows = [one.expressions if isinstance(one, exp.Tuple) else [one] for one in values.expressions]
    cells = [one[at] for one in rows if at < len(one) and not isinstance(one[at], exp.Null)]
    return bool(cells) and all(is_surely(kind, one, columns_of, levels) for one in cells)


def _flattened(source: exp.Expr) -> exp.Expr | None:
    """The input of Snowflake's FLATTEN, whose values are JSON where it is."""
    rows = source.this
    given = [rows.this, *rows.expressions] if isinstance(rows, exp.Explode) else []
    named = [one.expression for one in given if isinstance(one, exp.Kwarg) and one.this.name.lower() == "input"]
    return named[0] if named else given[0] if given and not isinstance(given[0], exp.Kwarg) else None


def _outputs(kind: Kind, query: exp.Expr, column: exp.Expr, columns_of: Columns | None, levels: int) -> bool:
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.this
    if not isinstance(query, exp.Select) or not levels:
        return False
    for one in query.expressions:
        if one.alias_or_name.lower() == column.name.lower() and not one.is_star:
            return is_surely(kind, one.unalias(), columns_of, levels - 1)
    starred = any(one.is_star for one in query.expressions)
    return starred and _gives(kind, query, exp.column(column.name), columns_of, levels - 1)


def _is_variant(value: exp.Expr) -> bool:
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("variant"))
    if isinstance(value, exp.Anonymous):
        return value.name.upper() in _PARSING and len(value.expressions) < 3
    return isinstance(value, exp.ParseJSON)


def _is_json(value: exp.Expr) -> bool:
    if isinstance(value, exp.Cast):
        untyped = value.to.is_type("array") and not value.to.expressions
        return (
            _is_json(value.this.unnest()) if untyped else bool(value.to.is_type("variant", "super", "object", "json"))
        )
    return isinstance(value, (exp.ParseJSON, exp.JSONExtract))


def _is_list(value: exp.Expr) -> bool:
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("array", "list"))
    return isinstance(value, (exp.Array, exp.ArrayAgg, exp.Split))


def _is_array_of_rows(value: exp.Expr) -> bool:
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("array")) and any(one.is_type("struct") for one in value.to.expressions)
    return isinstance(value, exp.Array) and any(isinstance(one, exp.Struct) for one in value.expressions)


def _is_text(value: exp.Expr) -> bool:
    if isinstance(value, exp.Cast):
        return bool(value.to.is_type("text", "varchar", "char"))
    return value.is_string or isinstance(value, (exp.Concat, exp.DPipe, exp.Upper, exp.Lower, exp.Trim, exp.Replace))


def _is_time(value: exp.Expr) -> bool:
    cast = isinstance(value, exp.Cast) and value.to.is_type("timestamp", "timestamptz", "timestampntz", "datetime")
    return cast or isinstance(value, exp.CurrentTimestamp)


def _is_instant(value: exp.Expr) -> bool:
    cast = isinstance(value, exp.Cast) and value.to.is_type("timestamptz", "timestampltz")
    return cast or isinstance(value, exp.CurrentTimestamp)


def _is_clock_time(value: exp.Expr) -> bool:
    return isinstance(value, exp.Cast) and bool(value.to.is_type("timestamp", "timestampntz", "datetime", "date"))


def _is_date(value: exp.Expr) -> bool:
    return is_date(value) or isinstance(value, (exp.LastDay, exp.TsOrDsToDate, exp.Date))


def _is_number(value: exp.Expr) -> bool:
    return bool(isinstance(value, exp.Cast) and value.to.is_type(*exp.DataType.NUMERIC_TYPES)) or value.is_number


_VARIANT: Final = Kind(_is_variant, lambda of: of == "variant")
JSON_TEXT: Final = Kind(_is_json, lambda of: of == "string")
_LIST: Final = Kind(_is_list, lambda of: of.startswith("array<"))
ARRAY_OF_ROWS: Final = Kind(_is_array_of_rows, lambda of: of.startswith("array<struct<"))
_TEXT: Final = Kind(_is_text, lambda of: of == "string")
_TIME: Final = Kind(_is_time, lambda of: of.startswith("timestamp"))
_DATE: Final = Kind(
    _is_date,
    lambda of: of == "date",
    (exp.Min, exp.Max, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.AnyValue, exp.Window, exp.IgnoreNulls,
     exp.Filter),
)  # fmt: skip
_INSTANT: Final = Kind(_is_instant, lambda of: False)
_CLOCK_TIME: Final = Kind(_is_clock_time, lambda of: of in ("timestamp_ntz", "date"))
_NUMBER: Final = Kind(_is_number, lambda of: of.startswith(("decimal", "double", "float")) or of.endswith("int"))
_ELEMENT: Final = Kind(
    lambda value: _is_number(value) or _is_time(value), lambda of: not of.startswith(("array<", "map<", "struct<"))
)
_MADE_JSON: Final = Kind(makes_json, lambda of: False)
_ANY_JSON: Final = Kind(gives_json, lambda of: False)
_PART_OF_JSON: Final = Kind(gives_part, lambda of: False)


def keep_variant_paths(tree: exp.Expr, columns_of: Columns | None) -> None:
    """Write the paths of Databricks' variants, `v:k`, as calls of VARIANT_GET. Of other values, they are JSON's."""
    for node in reversed(list(tree.find_all(exp.JSONExtract))):
        if isinstance(node.expression, exp.JSONPath) and is_surely(_VARIANT, node.this, columns_of):
            given = node.expression.sql("databricks").strip("'")
            path = exp.Literal.string(f"${given}" if given.startswith("[") else f"$.{given}")
            node.replace(exp.Anonymous(this="VARIANT_GET", expressions=[node.this.copy(), path]))


def mark_columns(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Note at columns whose function depends on it that they are JSON (`json`), lists (`list`) and so on."""
    for column, mark, kind in _asked(tree, dialect):
        if is_surely(kind, column, columns_of):
            column.meta[mark] = True


def mark_day_counts(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Note at differences of dates that they are numbers of days (`DAYS`), where they are not intervals."""
    for one in tree.find_all(exp.Sub) if dialect in ("postgres", "redshift", "duckdb", "snowflake") else ():
        if all(is_surely(_DATE, side, columns_of) for side in (one.this, one.expression)):
            one.meta.update({DAYS: True, MARK: INT})


def _asked(tree: exp.Expr, dialect: str) -> Iterator[tuple[exp.Expr, str, Kind]]:
    if dialect in ("postgres", "trino"):
        operands = (side for one in tree.find_all(exp.DPipe) for side in (one.this, one.expression))
        joined = (one for one in operands if isinstance(one, exp.Column))
        yield from ((one, mark, kind) for one in joined for mark, kind in (("list", _LIST), ("element", _ELEMENT)))
    for moved in tree.find_all(exp.AtTimeZone) if dialect in ("postgres", "redshift", "duckdb") else ():
        if isinstance(moved.this.unnest(), exp.Column):
            kinds = (("instant", _INSTANT), ("clock", _CLOCK_TIME))
            yield from ((moved.this.unnest(), mark, kind) for mark, kind in kinds)
    if dialect in ("postgres", "duckdb"):
        yield from ((one, STAMP, _TIME) for one in differing_columns(tree))
    if dialect == "duckdb":
        yield from ((one.this, "list", _LIST) for one in tree.find_all(exp.Length) if isinstance(one.this, exp.Column))
    if dialect == "duckdb":
        for part in tree.find_all(exp.Bracket):
            if isinstance(part.this, exp.Column):
                yield from ((part.this, mark, kind) for mark, kind in (("list", _LIST), ("text", _TEXT)))
        of_time = (one.this for one in tree.find_all(exp.UnixToTime) if isinstance(one.this, exp.Column))
        yield from ((one, "time", _TIME) for one in of_time)
    for one in tree.find_all(exp.Trunc) if dialect == "redshift" else ():
        if isinstance(one.this, exp.Column):
            yield from ((one.this, mark, kind) for mark, kind in (("time", _TIME), ("number", _NUMBER)))
    if dialect == "postgres":
        sides = (side for one in tree.find_all(*WITH_OPERATOR) for side in (one.this, one.expression))
        yield from _asked_of_json(sides, _MADE_JSON)
        yield from _asked_of_json(taken_values(tree), _ANY_JSON)
    if dialect not in ("snowflake", "redshift"):
        return
    for node in tree.find_all(exp.Explode, exp.ArraySize):
        given = [node.this, *(node.expressions if isinstance(node, exp.Explode) else [])]
        for one in given:
            value = one.expression if isinstance(one, exp.Kwarg) else one
            if isinstance(value, exp.Column):
                yield value, "json", JSON_TEXT


def _asked_of_json(values: Iterable[exp.Expr], kind: Kind) -> Iterator[tuple[exp.Expr, str, Kind]]:
    for one in (leaf for value in values for leaf in branches(value)):
        if isinstance(one, exp.Column):
            yield from ((one, "json_part", _PART_OF_JSON), (one, "json", kind))
