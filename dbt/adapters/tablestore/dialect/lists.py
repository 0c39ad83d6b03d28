"""Corrections of arrays and of rows that are made of them: flatten, unnest, series, ordered aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.refusal import Untranslatable

_FLATTENED: Final = ("index", "value")


def _flatten(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's FLATTEN of an array: its columns are `index` and `value`."""
    inner = node.this
    if not isinstance(inner, exp.Explode):
        return None
    given = {one.this.name.lower(): one.expression for one in (inner.this, *inner.expressions)
             if isinstance(one, exp.Kwarg)}  # fmt: skip
    if "input" not in given or {"path", "recursive", "mode"} & given.keys():
        if given:
            raise Untranslatable("FLATTEN with path, recursive or mode")
        return None
    outer = given["outer"].this if isinstance(given.get("outer"), exp.Boolean) else False
    alias = node.args.get("alias")
    name = alias.this if alias is not None and alias.this else exp.to_identifier("f")
    source = exp.Anonymous(this="POSEXPLODE_OUTER" if outer else "POSEXPLODE", expressions=[_as_list(given["input"])])
    columns = exp.TableAlias(this=name, columns=[exp.to_identifier(one) for one in _FLATTENED])
    if isinstance(node, exp.Lateral):
        return exp.Lateral(this=source, view=False, outer=False, alias=columns)
    return exp.Table(this=source, alias=columns)


def _as_list(value: exp.Expr) -> exp.Expr:
    """An array; of a JSON text, its elements as texts."""
    if value.find(exp.JSONExtract, exp.JSONExtractScalar, exp.ParseJSON):
        return exp.Anonymous(this="FROM_JSON", expressions=[value, exp.Literal.string("ARRAY<STRING>")])
    return value


def _rows(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """TABLE(FLATTEN(…)), and TABLE(GENERATOR(rowcount => n)), whose rows have no columns."""
    if isinstance(node.this, exp.Generator):
        count = node.this.args.get("rowcount")
        if count is None:
            raise Untranslatable("GENERATOR without a row count")
        alias = node.args.get("alias")
        return exp.Table(this=exp.Anonymous(this="RANGE", expressions=[count]), alias=alias)
    return _flatten(node, dialect)


def _table(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GENERATE_SERIES and RANGE as a table. Its alias also names its column."""
    series = node.this
    if not isinstance(series, (exp.ExplodingGenerateSeries, exp.GenerateSeries)):
        return None
    default = "generate_series" if not series.args.get("is_end_exclusive") else "range"
    node.set("this", exp.Anonymous(this="EXPLODE", expressions=[_sequence(series)]))
    _name_column(node, default if dialect == "duckdb" else None)
    return None


def _unnest(node: exp.Expr, dialect: str) -> None:
    """UNNEST. With one array, its alias also names its column."""
    if dialect == "bigquery":
        return
    named = node.parent if isinstance(node.parent, exp.Lateral) else node
    number = node.args.get("offset")
    if len(node.expressions) == 1:
        _name_column(named, "unnest" if dialect == "duckdb" else None)
    if number:
        _number_rows(node)
        named.args["alias"].append("columns", number if number is not True else exp.to_identifier("ordinality"))


def _number_rows(node: exp.Expr) -> None:
    """WITH ORDINALITY counts from 1, in a last column; Spark's POSEXPLODE from 0."""
    arrays = [one.copy() for one in node.expressions]
    listed = arrays[0] if len(arrays) == 1 else exp.Anonymous(this="ARRAYS_ZIP", expressions=arrays)
    index = exp.to_identifier("i")
    count = exp.Lambda(
        this=exp.Add(this=index.copy(), expression=exp.Literal.number(1)), expressions=[exp.to_identifier("e"), index]
    )
    node.set("offset", None)
    node.append("expressions", exp.Anonymous(this="TRANSFORM", expressions=[listed, count]))


def _position(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_POSITION is null where the value is missing, and counts from 0 in Snowflake; Spark's is 0, and from 1."""
    if dialect not in ("snowflake", "postgres", "duckdb"):
        return None
    position = exp.Anonymous(this="ARRAY_POSITION", expressions=[node.this, node.expression])
    found = exp.Anonymous(this="NULLIF", expressions=[position, exp.Literal.number(0)])
    if not node.args.get("zero_based"):
        return found
    return exp.paren(exp.Sub(this=found, expression=exp.Literal.number(1)), copy=False)


def _size(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_LENGTH(a, 1) of an empty array is null."""
    dimension = node.args.get("expression")
    if dialect not in ("postgres", "redshift") or dimension is None:
        return None
    if dimension.name != "1":
        raise Untranslatable("ARRAY_LENGTH of a dimension other than 1")
    size = exp.Anonymous(this="SIZE", expressions=[node.this])
    return exp.Anonymous(this="NULLIF", expressions=[size, exp.Literal.number(0)])


def _by_key(node: exp.Expr, index: exp.Expr) -> exp.Expr | None:
    """Snowflake's v['k'][0]: JSON is text here. An index alone may be that of an array."""
    inner = node.this
    known = inner.expressions if isinstance(inner, exp.Anonymous) and inner.name == "GET_JSON_OBJECT" else None
    if isinstance(inner, (exp.Struct, exp.Map, exp.VarMap)) or not isinstance(index, exp.Literal):
        return None
    if known is None and not index.is_string:
        return None
    if any(one in index.name for one in "'[]\""):
        raise Untranslatable(f"the key {index.name} of a variant")
    plain = index.is_string and index.name.isidentifier()
    step = f".{index.name}" if plain else f"['{index.name}']" if index.is_string else f"[{index.name}]"
    source, path = (known[0], known[1].name) if known else (inner, "$")
    return exp.Anonymous(this="GET_JSON_OBJECT", expressions=[source.copy(), exp.Literal.string(path + step)])


def _element(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's l[-1] is the last element. sqlglot has made an index of it that counts from 0."""
    index = node.expressions[0] if len(node.expressions) == 1 else None
    if dialect == "snowflake" and index is not None:
        return _by_key(node, index)
    if dialect != "duckdb" or not isinstance(index, exp.Neg) or not index.this.is_int:
        return None
    behind = exp.Neg(this=exp.Literal.number(int(index.this.name) - 1))
    return exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[node.this, behind])


def _name_column(node: exp.Expr, default: str | None) -> None:
    alias = node.args.get("alias")
    if alias is None:
        name = default or ("generate_series" if isinstance(node, exp.Table) else "unnest")
        node.set("alias", exp.TableAlias(this=exp.to_identifier(name), columns=[exp.to_identifier(name)]))
    elif not alias.columns:
        alias.set("columns", [exp.to_identifier(default) if default else alias.this.copy()])


def _series(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GENERATE_SERIES in a select list: one row for each value."""
    if isinstance(node.parent, (exp.Table, exp.Unnest)):
        return None
    listed = _sequence(node)
    return (
        exp.Anonymous(this="EXPLODE", expressions=[listed]) if isinstance(node, exp.ExplodingGenerateSeries) else listed
    )


def _sequence(node: exp.Expr) -> exp.Expr:
    """The array from start to end; empty where the end is behind the start, from where Spark would count down."""
    start, end, step = node.args["start"], node.args["end"], node.args.get("step")
    if node.args.get("is_end_exclusive"):
        end = exp.Sub(this=end, expression=step.copy() if step else exp.Literal.number(1))
        if end.this.is_int and end.expression.is_int:
            end = exp.Literal.number(int(end.this.name) - int(end.expression.name))
    down = isinstance(step, exp.Neg)
    listed = exp.Anonymous(this="SEQUENCE", expressions=[one for one in (start, end, step) if one is not None])
    if start.is_int and end.is_int and (int(start.name) <= int(end.name)) is not down:
        return listed
    ordered = (exp.GTE if down else exp.LTE)(this=start.copy(), expression=end.copy())
    return exp.Anonymous(this="IF", expressions=[ordered, listed, exp.Anonymous(this="ARRAY", expressions=[])])


def _array_agg(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """ARRAY_AGG with an order, which Spark's COLLECT_LIST does not have: structs of order and value, sorted."""
    value: exp.Expr = node.this
    limit: exp.Expr | None = None
    if isinstance(value, exp.Limit):
        limit, value = value.expression, value.this
    within = node.parent if isinstance(node.parent, exp.WithinGroup) else None
    order = within.expression if within is not None else value if isinstance(value, exp.Order) else None
    if order is None:
        return _with_nulls(node, value, limit, dialect)
    item = value.this if isinstance(value, exp.Order) else value
    if isinstance(item, exp.Distinct):
        raise Untranslatable("ARRAY_AGG(DISTINCT … ORDER BY …)")
    outer = node.find_ancestor(exp.Filter, exp.Window, exp.Select)
    if isinstance(outer, (exp.Filter, exp.Window)):
        raise Untranslatable(f"ARRAY_AGG with an order and {'FILTER' if isinstance(outer, exp.Filter) else 'OVER'}")
    result = sorted_by(item, order.expressions, "ARRAY_AGG")
    skipping = isinstance(node.parent, exp.IgnoreNulls)
    if skipping or dialect == "snowflake":
        result = exp.Anonymous(this="ARRAY_COMPACT", expressions=[result])
    if limit is not None:
        result = _first_of(result, limit)
    if within is None and not skipping:
        return result
    outside = within or node.parent
    assert outside is not None
    outside.replace(result)
    return None


def _with_nulls(node: exp.Expr, value: exp.Expr, limit: exp.Expr | None, dialect: str) -> exp.Expr | None:
    """ARRAY_AGG keeps nulls in some warehouses. Spark's COLLECT_LIST does not, unless they are in a struct."""
    skips = dialect in ("snowflake", "databricks") or isinstance(node.parent, exp.IgnoreNulls)
    if skips or isinstance(value, exp.Distinct):
        return None if limit is None else _first_of(exp.ArrayAgg(this=value), limit)
    struct = exp.Anonymous(this="NAMED_STRUCT", expressions=[exp.Literal.string("v"), value.copy()])
    whole: exp.Expr = node
    while isinstance(whole.parent, (exp.Filter, exp.Window)) and whole.arg_key == "this":
        whole = whole.parent
    listed: exp.Expr = exp.Anonymous(this="COLLECT_LIST", expressions=[struct])
    if whole is not node:
        node.replace(listed)
        listed = exp.paren(whole.copy(), copy=False)
    result: exp.Expr = exp.Dot(this=listed, expression=exp.to_identifier("v"))
    result = result if limit is None else _first_of(result, limit)
    if whole is node:
        return result
    whole.replace(result)
    return None


def sorted_by(item: exp.Expr, keys: list[exp.Expr], name: str) -> exp.Expr:
    """The list of an aggregate's values in an order. `name` is that of the aggregate."""
    down = bool(keys[0].args.get("desc"))
    if any(bool(one.args.get("desc")) is not down for one in keys):
        raise Untranslatable(f"{name} ordered upwards by one column and downwards by another")
    parts: list[exp.Expr] = []
    for number, key in enumerate(keys):
        # Where the order is turned round afterwards, so are its nulls.
        nulls_last = bool(key.args.get("nulls_first")) if down else not key.args.get("nulls_first")
        absent: exp.Expr = exp.Is(this=key.this.copy(), expression=exp.Null())
        parts += [
            exp.Literal.string(f"n{number}"), absent if nulls_last else exp.Not(this=absent),
            exp.Literal.string(f"k{number}"), key.this.copy(),
        ]  # fmt: skip
    struct = exp.Anonymous(this="NAMED_STRUCT", expressions=[*parts, exp.Literal.string("v"), item.copy()])
    listed = exp.Anonymous(this="ARRAY_SORT", expressions=[exp.Anonymous(this="COLLECT_LIST", expressions=[struct])])
    ordered = exp.Anonymous(this="REVERSE", expressions=[listed]) if down else listed
    return exp.Dot(this=ordered, expression=exp.to_identifier("v"))


def _first_of(listed: exp.Expr, limit: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="SLICE", expressions=[listed, exp.Literal.number(1), limit])


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Lateral: _flatten,
    exp.TableFromRows: _rows,
    exp.Table: _table,
    exp.Unnest: _unnest,
    exp.ExplodingGenerateSeries: _series,
    exp.GenerateSeries: _series,
    exp.ArrayAgg: _array_agg,
    exp.ArrayPosition: _position,
    exp.ArraySize: _size,
    exp.Bracket: _element,
}
