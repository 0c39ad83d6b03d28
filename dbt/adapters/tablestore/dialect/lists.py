"""Corrections of arrays and of rows that are made of them: flatten, unnest, series, ordered aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp
from sqlglot.transforms import unnest_to_explode

from dbt.adapters.tablestore.dialect.refusal import Untranslatable

_NULL_BEYOND: Final = ("snowflake", "postgres", "duckdb")
"""Dialects in which an index behind the end of an array gives null; in Spark it is an error."""
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
        for one in node.expressions:
            if isinstance(one, exp.GenerateSeries):
                one.replace(_sequence(one))
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
    if dialect == "snowflake" and index is not None and (found := _by_key(node, index)) is not None:
        return found
    number = isinstance(index, exp.Literal) and not index.is_string
    if dialect in _NULL_BEYOND and number:
        return exp.Anonymous(this="GET", expressions=[node.this, index])
    if dialect != "duckdb" or not isinstance(index, exp.Neg) or not index.this.is_int:
        return None
    behind = exp.Neg(this=exp.Literal.number(int(index.this.name) - 1))
    return exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[node.this, behind])


def _dates(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GENERATE_DATE_ARRAY, which is empty where it would count the other way."""
    return None if dialect == "databricks" else _sequence(node)


def _left_unnest(node: exp.Expr, dialect: str) -> None:
    """LEFT JOIN UNNEST keeps rows whose array is empty, of which sqlglot makes a join without these."""
    if not isinstance(node, exp.Select):
        return
    joins = [one for one in node.args.get("joins") or [] if _unnested(one)]
    for one in joins:
        condition = one.args.get("on")
        plain = condition is None or (isinstance(condition, exp.Boolean) and condition.this)
        if not plain or one.args.get("using") or one.side not in ("", "LEFT"):
            raise Untranslatable("a join with UNNEST that has a condition or is not LEFT, INNER or CROSS")
    if not any(one.side == "LEFT" for one in joins):
        return
    known = len(node.args.get("laterals") or [])
    unnest_to_explode(node)
    for one, lateral in zip(joins, node.args["laterals"][known:], strict=True):
        lateral.set("outer", one.side == "LEFT")


def _unnested(join: exp.Expr) -> bool:
    inner = join.this.this if isinstance(join.this, exp.Lateral) else join.this
    return isinstance(inner, exp.Unnest)


def _columns_of_values(node: exp.Expr, dialect: str) -> None:
    """The columns of VALUES have names by their number, which differ from Spark's."""
    prefix, first = {"duckdb": ("col", 0), "snowflake": ("column", 1), "postgres": ("column", 1)}.get(dialect, ("", 0))
    alias = node.args.get("alias")
    rows = node.expressions
    if not prefix or not isinstance(node.parent, (exp.From, exp.Join)) or (alias is not None and alias.columns):
        return
    width = len(rows[0].expressions) if isinstance(rows[0], exp.Tuple) else 1
    names = [exp.to_identifier(f"{prefix}{first + i}") for i in range(width)]
    name = alias.this if alias is not None and alias.this else exp.to_identifier("_values")
    node.set("alias", exp.TableAlias(this=name.copy(), columns=names))


def _row_number(node: exp.Expr, dialect: str) -> exp.Expr:
    """SEQ4() of a GENERATOR: its rows count from 0."""
    select = node.find_ancestor(exp.Select)
    source = select.args.get("from_") if select is not None else None
    made = source is not None and isinstance(source.this, (exp.TableFromRows, exp.Table))
    if select is None or source is None or not made or not _is_generator(source.this) or select.args.get("joins"):
        raise Untranslatable(
            f"{type(node).__name__.upper()} outside of TABLE(GENERATOR(…)) (write row_number() over (…) - 1)"
        )
    return exp.column("id")


def _is_generator(source: exp.Expr) -> bool:
    inner = source.this
    return isinstance(inner, exp.Generator) or (isinstance(inner, exp.Anonymous) and inner.name == "RANGE")


def _reversed(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Anonymous(this="REVERSE", expressions=[node.this])


def _overlapping(node: exp.Expr, dialect: str) -> exp.Expr:
    return exp.Anonymous(this="ARRAYS_OVERLAP", expressions=[node.this, node.expression])


def _containing(node: exp.Expr, dialect: str) -> exp.Expr:
    """Postgres' a @> b of arrays."""
    missing = exp.Anonymous(this="ARRAY_EXCEPT", expressions=[node.expression, node.this])
    return exp.EQ(this=exp.Anonymous(this="SIZE", expressions=[missing]), expression=exp.Literal.number(0))


def _parts(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """STRING_TO_ARRAY and SPLIT_TO_ARRAY."""
    if node.args.get("null") or node.expression is None:
        raise Untranslatable("STRING_TO_ARRAY with a text for null, or without a delimiter")
    parts = exp.Split(this=node.this, expression=node.expression)
    if dialect != "postgres":
        return parts
    empty = exp.EQ(this=node.this.copy(), expression=exp.Literal.string(""))
    return exp.Anonymous(this="IF", expressions=[empty, exp.Anonymous(this="ARRAY", expressions=[]), parts])


def _elements(node: exp.Expr, dialect: str) -> exp.Expr:
    """JSON_EXTRACT_ARRAY: the elements as texts."""
    part = node.this
    if node.expression is not None:
        part = exp.JSONExtract(this=part, expression=node.expression)
    return exp.Anonymous(this="FROM_JSON", expressions=[part, exp.Literal.string("ARRAY<STRING>")])


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
    elif _may_be_empty(node, dialect):
        result = _null_of_none(result)
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
    empty = _may_be_empty(node, dialect)
    struct = exp.Anonymous(this="NAMED_STRUCT", expressions=[exp.Literal.string("v"), value.copy()])
    whole: exp.Expr = node
    while isinstance(whole.parent, (exp.Filter, exp.Window)) and whole.arg_key == "this":
        whole = whole.parent
    listed: exp.Expr = exp.Anonymous(this="COLLECT_LIST", expressions=[struct])
    if whole is not node:
        node.replace(listed)
        listed = exp.paren(whole.copy(), copy=False)
    result: exp.Expr = exp.Dot(this=listed, expression=exp.to_identifier("v"))
    result = _null_of_none(result) if empty else result
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


def _may_be_empty(node: exp.Expr, dialect: str) -> bool:
    """Whether ARRAY_AGG may have no rows, and is null then: a group has some."""
    select = node.find_ancestor(exp.Select)
    grouped = select is not None and select.args.get("group") is not None
    return dialect not in ("snowflake", "databricks") and (not grouped or node.find_ancestor(exp.Filter) is not None)


def _null_of_none(listed: exp.Expr) -> exp.Expr:
    size = exp.Anonymous(this="SIZE", expressions=[listed.copy()])
    none = exp.EQ(this=size, expression=exp.Literal.number(0))
    return exp.Anonymous(this="IF", expressions=[none, exp.Null(), listed])


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
    exp.GenerateDateArray: _dates,
    exp.Select: _left_unnest,
    exp.Values: _columns_of_values,
    **dict.fromkeys((exp.Seq1, exp.Seq2, exp.Seq4, exp.Seq8), _row_number),
    exp.ArrayReverse: _reversed,
    exp.ArrayOverlaps: _overlapping,
    exp.ArrayContainsAll: _containing,
    exp.StringToArray: _parts,
    exp.JSONExtractArray: _elements,
}
