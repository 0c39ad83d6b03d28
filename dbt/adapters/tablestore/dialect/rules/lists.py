"""Rules for rows that are made of arrays: flatten, unnest, series, comprehensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp
from sqlglot.transforms import unnest_to_explode

from dbt.adapters.tablestore.dialect.refusal import Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.intervals import is_date
from dbt.adapters.tablestore.dialect.rules.json_parts import call, is_json_text, rows_of
from dbt.adapters.tablestore.dialect.rules.json_values.flattening import flattened, flattened_array

_FLATTENED: Final = ("index", "value")


def _flatten(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """Snowflake's FLATTEN: the columns of an array are `index` and `value`, and those of JSON also `key`."""
    inner = node.this
    found = rows_of(inner, node.args.get("alias"), dialect)
    if found is not None:
        node.set("this", found[0])
        node.set("alias", found[1])
        return None
    if isinstance(inner, (exp.ExplodingGenerateSeries, exp.GenerateSeries)) and isinstance(node, exp.Lateral):
        node.set("this", exp.Anonymous(this="EXPLODE", expressions=[_sequence(inner, dialect)]))
        _name_column(node, None)
        return None
    if not isinstance(inner, exp.Explode):
        return None
    given = {one.this.name.lower(): one.expression for one in (inner.this, *inner.expressions)
             if isinstance(one, exp.Kwarg)}  # fmt: skip
    if dialect == "snowflake" and not isinstance(inner.this, exp.Kwarg):
        given["input"] = inner.this
        if inner.expressions and not isinstance(inner.expressions[0], exp.Kwarg):
            given["path"] = inner.expressions[0]
    mode = str(given["mode"].name if "mode" in given else "both").lower()
    if "input" not in given or _is_set(given.get("recursive"), "false") or mode not in ("both", "object", "array"):
        if given:
            raise Untranslatable("FLATTEN with recursive or mode")
        return None
    path = given.get("path")
    if path is not None:
        if not isinstance(path, exp.Literal):
            raise Untranslatable("FLATTEN with a computed path")
        given["input"] = call("GET_JSON_OBJECT", given["input"], exp.Literal.string(f"$.{path.name}"))
    outer = given["outer"].this if isinstance(given.get("outer"), exp.Boolean) else False
    alias = node.args.get("alias")
    name = alias.this if alias is not None and alias.this else exp.to_identifier("f")
    used = _used(node, name.name)
    more = [one for one in ("path", "this") if one in used]
    source: exp.Expr = exp.Anonymous(this="POSEXPLODE_OUTER" if outer else "POSEXPLODE", expressions=[given["input"]])
    names: tuple[str, ...] = (*_FLATTENED, *more)
    if is_json_text(given["input"]) or "key" in used or mode == "object":
        names = ("key", *names)
        source = flattened(given["input"], more, path.name if path is not None else "", mode, outer=bool(outer))
    elif more:
        source = flattened_array(given["input"], more, outer=bool(outer))
    columns = exp.TableAlias(this=name, columns=[exp.to_identifier(one) for one in names])
    if isinstance(node, exp.Lateral) or isinstance(node.parent, exp.Join):
        return exp.Lateral(this=source, view=False, outer=False, alias=columns)
    return exp.Table(this=source, alias=columns)


def _used(node: exp.Expr, alias: str) -> set[str]:
    """The columns of FLATTEN that a query names with its alias. Raises Untranslatable for SEQ."""
    select = node.find_ancestor(exp.Select)
    used = set()
    for one in select.find_all(exp.Column) if select is not None else ():
        if one.table.lower() == alias.lower():
            used.add(one.name.lower())
            if one.name.lower() == "seq":
                with about(one):
                    raise Untranslatable("the column SEQ of FLATTEN (number the rows by row_number() before it)")
    return used


def _is_set(value: exp.Expr | None, plain: str) -> bool:
    return value is not None and str(value.this).lower() != plain


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
    """GENERATE_SERIES and RANGE as a table, and rows of JSON. Their alias also names their column. As in their
    warehouses, they may use columns of the tables before them."""
    found = rows_of(node.this, node.args.get("alias"), dialect)
    if found is not None:
        node.set("this", found[0])
        node.set("alias", found[1])
    elif isinstance(node.this, (exp.ExplodingGenerateSeries, exp.GenerateSeries)):
        series = node.this
        default = "generate_series" if not series.args.get("is_end_exclusive") else "range"
        node.set("this", exp.Anonymous(this="EXPLODE", expressions=[_sequence(series, dialect)]))
        _name_column(node, default if dialect == "duckdb" else None)
    else:
        return None
    if not isinstance(node.parent, exp.Join) or node.this.find(exp.Column) is None:
        return None
    return exp.Lateral(this=node.this, view=False, outer=False, alias=node.args.get("alias"))


def _unnest(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """UNNEST. With one array, its alias also names its column."""
    if dialect == "bigquery":
        for one in node.expressions:
            if isinstance(one, exp.GenerateSeries):
                one.replace(_sequence(one, dialect))
        number, alias = node.args.get("offset"), node.args.get("alias")
        if number and alias is not None and alias.columns:  # the number comes last, and before it in POSEXPLODE
            _number_rows(node, 0)
            alias.append("columns", number if number is not True else exp.to_identifier("offset"))
        return None
    named = node.parent if isinstance(node.parent, exp.Lateral) else node
    number = node.args.get("offset")
    if len(node.expressions) == 1:
        _name_column(named, "unnest" if dialect == "duckdb" else None)
    if number:
        if len(node.expressions) == 1 and len(named.args["alias"].columns) > 1:
            raise Untranslatable("UNNEST … WITH ORDINALITY of a map, or of rows (write UNNEST without it)")
        _number_rows(node, 1)
        named.args["alias"].append("columns", number if number is not True else exp.to_identifier("ordinality"))
    return None


def _number_rows(node: exp.Expr, first: int) -> None:
    """Number the rows in a last column."""
    arrays = [one.copy() for one in node.expressions]
    listed = arrays[0] if len(arrays) == 1 else exp.Anonymous(this="ARRAYS_ZIP", expressions=arrays)
    index = exp.to_identifier("i")
    number: exp.Expr = index.copy()
    if first:
        number = exp.Add(this=number, expression=exp.Literal.number(first))
    count = exp.Lambda(this=number, expressions=[exp.to_identifier("e"), index])
    node.set("offset", None)
    node.append("expressions", exp.Anonymous(this="TRANSFORM", expressions=[listed, count]))


def _numbered(node: exp.Expr, dialect: str) -> exp.Expr:
    """Redshift's `FROM t, t.l AS x AT i`, where i counts from 0."""
    element = node.this
    if not isinstance(node.parent, exp.Join) or not isinstance(element, exp.Alias):
        raise Untranslatable("AT outside of FROM t, t.l AS x AT i")
    name = element.args["alias"]
    columns = exp.TableAlias(this=name.copy(), columns=[node.expression, name])
    listed = exp.Anonymous(this="POSEXPLODE", expressions=[element.this])
    return exp.Lateral(this=listed, view=False, outer=False, alias=columns)


def _dates(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GENERATE_DATE_ARRAY and GENERATE_TIMESTAMP_ARRAY, which are empty where they would count the other way."""
    if dialect == "databricks":
        return None
    kind = "timestamp" if isinstance(node, exp.GenerateTimestampArray) else "date"
    for name in ("start", "end"):
        bound = node.args.get(name)
        if isinstance(bound, exp.Literal) and bound.is_string:
            node.set(name, exp.cast(bound.copy(), kind))
    return _sequence(node, dialect)


def _left_unnest(node: exp.Expr, dialect: str) -> None:
    """LEFT JOIN UNNEST keeps rows whose array is empty, of which sqlglot makes a join without these."""
    if not isinstance(node, exp.Select):
        return
    several = [one for one in node.expressions if one.find(exp.Explode) is not None]
    if len(several) > 1 and dialect != "databricks":
        _zip(node, several)
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


def _zip(select: exp.Select, items: list[exp.Expr]) -> None:
    """Two UNNEST side by side in a select list: rows of both arrays, and nulls behind the end of the shorter one."""
    where = [number for number, one in enumerate(select.expressions) if any(one is item for item in items)]
    found = [list(one.find_all(exp.Explode)) for one in items]
    if len(items) != 2 or where[1] != where[0] + 1 or any(len(one) != 1 for one in found):
        raise Untranslatable("several UNNEST in one select list (write FROM t, UNNEST(a, b) AS x(a, b))")
    arrays, fields = [], []
    for item, (rows,), name in zip(items, found, ("_x", "_y"), strict=True):
        arrays.append(exp.Coalesce(this=rows.this.copy(), expressions=[call("ARRAY")]))
        rows.replace(exp.column(name))
        value = item.unalias() if item is not rows else exp.column(name)
        fields += [exp.Literal.string(item.alias or "unnest"), value.copy()]
    both = exp.Lambda(this=call("NAMED_STRUCT", *fields), expressions=[exp.to_identifier(one) for one in ("_x", "_y")])
    kept = [one for number, one in enumerate(select.expressions) if number not in where]
    select.set("expressions", [*kept[: where[0]], call("INLINE", call("ZIP_WITH", *arrays, both)), *kept[where[0] :]])


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


def _name_column(node: exp.Expr, default: str | None) -> None:
    """The alias of rows of one column names the column, too; in DuckDB, `default` does as well."""
    alias = node.args.get("alias")
    if alias is None:
        name = default or ("generate_series" if isinstance(node, exp.Table) else "unnest")
        node.set("alias", exp.TableAlias(this=exp.to_identifier(name), columns=[exp.to_identifier(name)]))
    elif not alias.columns:
        select = node.find_ancestor(exp.Select)
        named = select is not None and any(one.name.lower() == default for one in select.find_all(exp.Column))
        alias.set("columns", [exp.to_identifier(default) if named else alias.this.copy()])


def _series(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """GENERATE_SERIES in a select list: one row for each value."""
    if isinstance(node.parent, (exp.Table, exp.Unnest, exp.Lateral)) or dialect == "databricks":
        return None
    listed = _sequence(node, dialect)
    return (
        exp.Anonymous(this="EXPLODE", expressions=[listed]) if isinstance(node, exp.ExplodingGenerateSeries) else listed
    )


def _sequence(node: exp.Expr, dialect: str) -> exp.Expr:
    """The array from start to end; empty where the end is behind the start, from where Spark, and Trino, count down.
    A step of time makes timestamps of dates in Postgres and DuckDB."""
    start, end, step = node.args["start"], node.args["end"], node.args.get("step")
    of_time = step is not None and step.find(exp.Interval) is not None
    if of_time and dialect in ("postgres", "duckdb") and any(is_date(one) or one.is_string for one in (start, end)):
        start, end = (exp.cast(one.copy(), "timestamp") for one in (start, end))
    down = isinstance(step, exp.Neg) or (isinstance(step, exp.Interval) and step.name.startswith("-"))
    if node.args.get("is_end_exclusive"):
        end = _before(end, step, of_time, down)
    listed = exp.Anonymous(this="SEQUENCE", expressions=[one for one in (start, end, step) if one is not None])
    if dialect == "trino" or (start.is_int and end.is_int and (int(start.name) <= int(end.name)) is not down):
        return listed
    ordered: exp.Expr = (exp.GTE if down else exp.LTE)(this=start.copy(), expression=end.copy())
    if not (step is None or of_time or step.is_int):
        below = exp.LT(this=exp.paren(step.copy()), expression=exp.Literal.number(0))
        ordered = exp.func("IF", below, exp.GTE(this=start.copy(), expression=end.copy()), ordered)
    return exp.Anonymous(this="IF", expressions=[ordered, listed, exp.Anonymous(this="ARRAY", expressions=[])])


def _before(end: exp.Expr, step: exp.Expr | None, of_time: bool, down: bool) -> exp.Expr:
    """The last value in front of an end that is left out, which need not be a step away."""
    if of_time:
        least = exp.Interval(this=exp.Literal.string("0.000001"), unit=exp.Var(this="SECOND"))
        return (exp.Add if down else exp.Sub)(this=end, expression=least)
    if end.is_int and (step is None or step.is_int):
        return exp.Literal.number(end.to_py() + (1 if down else -1))
    one: exp.Expr = exp.Literal.number(1)
    if step is not None and not step.is_int:
        below = exp.LT(this=exp.paren(step.copy()), expression=exp.Literal.number(0))
        one = exp.func("IF", below, exp.Neg(this=one.copy()), one)
    return (exp.Add if down else exp.Sub)(this=end, expression=one)


def _comprehension(node: exp.Expr, dialect: str) -> exp.Expr | None:
    """DuckDB's [x + 1 for x in xs if x > 1]."""
    inner = node.expressions[0] if len(node.expressions) == 1 else None
    if not isinstance(inner, exp.Comprehension):
        if any(isinstance(one, exp.Query) for one in node.expressions):
            raise Untranslatable("ARRAY(SELECT …) (aggregate with ARRAY_AGG)")
        return None
    if inner.args.get("position") is not None or not isinstance(inner.expression, exp.Identifier):
        raise Untranslatable("a list comprehension with positions")
    listed = inner.args["iterator"].copy()
    test = inner.args.get("condition")
    if test is not None:
        listed = exp.Anonymous(this="FILTER", expressions=[listed, _lambda(test, inner.expression)])
    return exp.Anonymous(this="TRANSFORM", expressions=[listed, _lambda(inner.this, inner.expression)])


def _lambda(of: exp.Expr, name: exp.Expr) -> exp.Expr:
    return exp.Lambda(this=of.copy(), expressions=[name.copy()])


def explode_outside(tree: exp.Expr, dialect: str) -> None:
    """Spark has rows of an array as a whole item of a select list, and in no expression, as in `unnest(a)::date`: the
    expression goes to each element of the array."""
    for select in list(tree.find_all(exp.Select)) if dialect != "databricks" else ():
        for item in list(select.expressions):
            value = item.unalias()
            found = [one for one in value.find_all(exp.Explode, exp.Anonymous) if _gives_rows(one, select)]
            if len(found) != 1 or found[0] is value.unnest() or value.find(exp.AggFunc, exp.Window, exp.Query):
                continue
            array = found[0].this if isinstance(found[0], exp.Explode) else found[0].expressions[0]
            found[0].replace(exp.column("_row"))
            each = exp.Lambda(this=value.copy(), expressions=[exp.to_identifier("_row")])
            value.replace(call("EXPLODE", call("TRANSFORM", array.copy(), each)))


def _gives_rows(node: exp.Expr, select: exp.Select) -> bool:
    named = type(node) is exp.Explode or (isinstance(node, exp.Anonymous) and node.name.upper() == "EXPLODE")
    return named and node.find_ancestor(exp.Select) is select


CORRECTIONS: Final[Mapping[type, Callable[[exp.Expr, str], exp.Expr | None]]] = {
    exp.Lateral: _flatten,
    exp.TableFromRows: _rows,
    exp.Table: _table,
    exp.Unnest: _unnest,
    exp.AtIndex: _numbered,
    exp.ExplodingGenerateSeries: _series,
    exp.GenerateSeries: _series,
    exp.GenerateDateArray: _dates,
    exp.GenerateTimestampArray: _dates,
    exp.Select: _left_unnest,
    exp.Values: _columns_of_values,
    **dict.fromkeys((exp.Seq1, exp.Seq2, exp.Seq4, exp.Seq8), _row_number),
    exp.Array: _comprehension,
}
