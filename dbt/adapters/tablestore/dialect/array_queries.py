"""Queries over arrays in BigQuery and Postgres.

Spark does not have those over one array inside of an expression: functions of arrays say the same.

In BigQuery, `(select value from unnest(params) where key = 'k')`, `exists(select 1 from unnest(l) as x where …)` and
`array(select … from unnest(l) as x)` read an array of a row. Without an alias of the array, columns are fields of its
elements; with one, columns without it are those of the row.

In Postgres, the alias of rows is their value, too. In both, an array that is null has no rows, as one that is empty.

In FROM of BigQuery, an array of structs is a table: the fields are its columns, and its alias is the struct of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.array_selects import elements_of
from dbt.adapters.tablestore.dialect.rules.aggregates import sorted_structs
from dbt.adapters.tablestore.dialect.rules.json_parts import call

_ELEMENT: Final = "_e"
_VALUE: Final = "_v"
_AGGREGATES: Final[Mapping[type[exp.Expr], str]] = {exp.Max: "ARRAY_MAX", exp.Min: "ARRAY_MIN"}
_ONE: Final = exp.Literal.number(1)
_ELSEWHERE: Final = ("joins", "laterals", "group", "having", "qualify", "windows", "with_", "offset")


def read_arrays_by_functions(tree: exp.Expr, dialect: str) -> None:
    """Replace such queries, inner ones first. Other queries over arrays stay as they are."""
    if dialect not in ("bigquery", "postgres"):
        return
    for node in reversed(list(tree.find_all(exp.Subquery, exp.Exists, exp.Array))):
        query = node.expressions[0] if isinstance(node, exp.Array) and len(node.expressions) == 1 else node.this
        if not isinstance(query, exp.Select) or (isinstance(node, exp.Subquery) and not _is_scalar(node)):
            continue
        given = query if dialect == "bigquery" else _over_unnest(query)
        made = None if given is None else _replacement(node, given)
        if given is not None and made is not None:
            node.replace(_of_no_rows(made, node, given))


def _over_unnest(query: exp.Select) -> exp.Select | None:
    """A copy of a query of Postgres over the elements of an array, or of a JSON array, in which they have one name;
    None for another query."""
    copied = query.copy()
    source = copied.args.get("from_")
    rows = source.this if source is not None else None
    array: exp.Expr | None = None
    own = "unnest"
    if isinstance(rows, exp.Unnest) and len(rows.expressions) == 1 and not rows.args.get("offset"):
        array = rows.expressions[0]
    elif isinstance(rows, exp.Table) and isinstance(rows.this, exp.Anonymous):
        array = elements_of(rows.this.name.upper(), [one.copy() for one in rows.this.expressions])
        own = "value" if "ELEMENTS" in rows.this.name.upper() else rows.this.name.lower()
    alias = rows.args.get("alias") if rows is not None else None
    named = list(alias.columns) if alias is not None else []
    if rows is None or array is None or len(named) > 1:
        return None
    table = alias.this.name.lower() if alias is not None and alias.this else own
    inside = {id(one) for one in rows.find_all(exp.Column)}
    columns = [one for one in copied.find_all(exp.Column) if id(one) not in inside]
    used = any(not one.table and one.name.lower() == table for one in columns)
    name = named[0].name if named else table if used or own == "unnest" else own
    for column in columns:
        if column.table.lower() == table:
            column.replace(exp.column(name))
    for item in list(copied.expressions):
        if isinstance(item, exp.Star):
            item.replace(exp.column(name))
    rows.replace(exp.Unnest(expressions=[array.copy()], alias=exp.TableAlias(columns=[exp.to_identifier(name)])))
    return copied


def _of_no_rows(made: exp.Expr, node: exp.Expr, query: exp.Select) -> exp.Expr:
    """The value of a query over an array that may be null. A test that is null of all elements finds none."""
    if isinstance(node, exp.Exists):
        return made if isinstance(made, exp.Boolean) else exp.Coalesce(this=made, expressions=[exp.false()])
    if isinstance(query.args["from_"].this.expressions[0], exp.Array):
        return made  # whose elements are written there
    if isinstance(node, exp.Array):
        return exp.Coalesce(this=made, expressions=[call("ARRAY")])
    counted = isinstance(made, exp.Anonymous) and made.name == "SIZE"
    return exp.Coalesce(this=made, expressions=[exp.Literal.number(0)]) if counted else made


def _is_scalar(node: exp.Subquery) -> bool:
    return not isinstance(node.parent, (exp.From, exp.Join, exp.Lateral, exp.CTE, exp.SetOperation, exp.In, exp.Any))


def _replacement(node: exp.Expr, query: exp.Select) -> exp.Expr | None:
    source = query.args.get("from_")
    unnest = source.this if source is not None else None
    value = _value(query)
    if not isinstance(unnest, exp.Unnest) or len(unnest.expressions) != 1 or value is None:
        return None
    if any(query.args.get(name) for name in _ELSEWHERE):
        return None
    keys = _sort_keys(query, unnest)
    array, name, over = _scope(query, unnest, keys)
    where = query.args.get("where")
    if isinstance(node, exp.Exists):
        if value.find(exp.AggFunc) is not None:
            return exp.true()  # an aggregate has a row, whatever the array has
        if query.args.get("limit"):
            return None
        test = over(where.this) if where is not None else exp.true()
        return call("EXISTS", array, _lambda(name, test))
    if where is not None:
        array = call("FILTER", array, _lambda(name, over(where.this)))
    if isinstance(node, exp.Array):
        return _listed(array, name, over, value, query, keys)
    return None if keys or query.args.get("distinct") else _single(array, name, over, value, query)


def _value(query: exp.Select) -> exp.Expr | None:
    """The value of a row: the only column, or the struct of SELECT AS STRUCT."""
    items = query.expressions
    if query.args.get("kind") is None:
        return items[0].unalias() if len(items) == 1 else None
    names = [one.alias_or_name for one in items]
    if query.args["kind"] != "STRUCT" or not all(names) or any(one.is_star for one in items):
        return None
    pairs = ((exp.Literal.string(name), one.unalias().copy()) for name, one in zip(names, items, strict=True))
    return call("NAMED_STRUCT", *(part for pair in pairs for part in pair))


def _listed(
    array: exp.Expr,
    name: str,
    over: Callable[[exp.Expr], exp.Expr],
    value: exp.Expr,
    query: exp.Select,
    keys: list[exp.Expr],
) -> exp.Expr | None:
    limit = query.args.get("limit")
    if value.find(exp.AggFunc) is not None or (limit is not None and not limit.expression.is_int):
        return None
    distinct = query.args.get("distinct")
    item = over(value)
    keys = [_of_item(one, query) for one in keys]
    if not keys:
        listed = call("TRANSFORM", array, _lambda(name, item))
    else:
        if distinct and any(one.this != value for one in keys):
            return None
        for one in keys:
            one.set("this", over(one.this))

        def of(struct: exp.Expr) -> exp.Expr:
            return call("TRANSFORM", array, _lambda(name, struct))

        listed = sorted_structs(item, keys, "ARRAY(SELECT …)", of)
    if distinct:
        listed = call("ARRAY_DISTINCT", listed)
    return listed if limit is None else call("SLICE", listed, _ONE.copy(), limit.expression.copy())


def _of_item(key: exp.Expr, query: exp.Select) -> exp.Expr:
    """A copy of a key, with the items of the list for their aliases, which hide fields, and for its number."""
    key, items = key.copy(), query.expressions
    if isinstance(key.this, exp.Literal) and key.this.is_int and 0 < int(key.this.name) <= len(items):
        key.set("this", items[int(key.this.name) - 1].unalias().copy())
        return key
    aliased = {one.alias.lower(): one.this for one in items if isinstance(one, exp.Alias)}
    for column in list(key.find_all(exp.Column)):
        if not column.table and column.name.lower() in aliased:
            value = aliased[column.name.lower()].copy()
            column.replace(value if column.parent is key else exp.paren(value, copy=False))
    return key


def _single(
    array: exp.Expr, name: str, over: Callable[[exp.Expr], exp.Expr], value: exp.Expr, query: exp.Select
) -> exp.Expr | None:
    limit = query.args.get("limit")
    if limit is not None and value.find(exp.AggFunc) is not None:
        return None
    if isinstance(value, exp.Count) and isinstance(value.this, exp.Star):
        return call("SIZE", array)
    if type(value) in _AGGREGATES and not value.expressions:
        of = value.this.expressions[0] if isinstance(value.this, exp.Distinct) else value.this
        return call(_AGGREGATES[type(value)], call("TRANSFORM", array, _lambda(name, over(of))))
    first = limit is None or (isinstance(limit.expression, exp.Literal) and limit.expression.name == "1")
    if not first or value.find(exp.AggFunc, exp.Subquery, exp.Star) is not None:
        return None
    return call("TRY_ELEMENT_AT", call("TRANSFORM", array, _lambda(name, over(value))), _ONE.copy())


def _sort_keys(query: exp.Select, unnest: exp.Unnest) -> list[exp.Expr]:
    """The keys that the values are ordered by; none where that is the order of the array."""
    order = query.args.get("order")
    keys: list[exp.Expr] = order.expressions if order is not None else []
    numbers = [one for one in keys if _is_number(one.this, unnest) and not one.args.get("desc")]
    return [] if len(keys) == len(numbers) == 1 else keys


def _is_number(value: exp.Expr, unnest: exp.Unnest) -> bool:
    """Whether a value is the number of an element."""
    named = isinstance(value, exp.Column) and not value.table and value.name.lower() == _number_of(unnest).lower()
    return named and bool(unnest.args.get("offset"))


def _number_of(unnest: exp.Unnest) -> str:
    """The name of the numbers of elements."""
    number = unnest.args.get("offset")
    return str(number.name) if isinstance(number, exp.Expr) else "offset"


def _scope(
    query: exp.Select, unnest: exp.Unnest, keys: list[exp.Expr]
) -> tuple[exp.Expr, str, Callable[[exp.Expr], exp.Expr]]:
    """The array, the name of an element, and a function that makes an expression on the row of a query one on the
    element. Where the numbers of elements are used, each element is a struct of itself and its number."""
    alias = unnest.args.get("alias")
    names = [one.name for one in (alias.columns if alias is not None else [])] or ([alias.name] if alias else [])
    name = names[0] if names and names[0] else ""
    parts = [*query.expressions, *([query.args["where"]] if query.args.get("where") else []), *keys]
    numbered = any(_is_number(one, unnest) for part in parts for one in part.find_all(exp.Column))
    array = unnest.expressions[0].copy()
    element: exp.Expr = exp.column(name or _ELEMENT)
    own = name or _VALUE
    if numbered:
        pair = [exp.Literal.string(own), exp.column("_x"), exp.Literal.string(_number_of(unnest)), exp.column("_i")]
        both = exp.Lambda(
            this=call("NAMED_STRUCT", *pair), expressions=[exp.to_identifier(one) for one in ("_x", "_i")]
        )
        array = call("TRANSFORM", array, both)
        element = exp.Dot(this=exp.column(_ELEMENT), expression=exp.to_identifier(own))

    def over(value: exp.Expr) -> exp.Expr:
        whole = exp.paren(value.copy(), copy=False)
        for column in list(whole.find_all(exp.Column)):
            steps = [one.copy() for one in column.parts]
            if numbered and _is_number(column, unnest):
                column.replace(exp.Dot(this=exp.column(_ELEMENT), expression=exp.to_identifier(column.name)))
            elif not name or (numbered and steps[0].name.lower() == name.lower()):
                field: exp.Expr = element.copy()
                for step in steps if not name else steps[1:]:
                    field = exp.Dot(this=field, expression=step)
                column.replace(field)
        return whole.this

    return array, _ELEMENT if numbered or not name else name, over


def _lambda(name: str, value: exp.Expr) -> exp.Expr:
    return exp.Lambda(this=value, expressions=[exp.to_identifier(name)])


def read_structs_as_rows(tree: exp.Expr, dialect: str) -> None:
    """Make columns of the fields where BigQuery reads an array of structs as a table."""
    for node in list(tree.find_all(exp.Unnest)) if dialect == "bigquery" else ():
        rows = _fields(node)
        if rows is not None:
            node.replace(rows)


def _fields(node: exp.Expr) -> exp.Expr | None:
    """The rows of an array of structs, whose fields are columns, and whose alias is each struct; None where the array
    may be another one. Without an alias, a joined array has structs, because nothing else would name its values."""
    alias, number, parent = node.args.get("alias"), node.args.get("offset"), node.parent
    name = alias.columns[0] if alias is not None and alias.columns else None
    joined = isinstance(parent, exp.Join)
    if not isinstance(parent, (exp.Join, exp.From)) or (isinstance(parent, exp.Join) and parent.side):
        return None
    if not _has_structs(node) and (name is not None or number or not joined):
        return None
    array = node.expressions[0]
    source: exp.Expr = exp.Table(this=call("INLINE", array))
    if number:
        if array.find(exp.Column) is not None:
            return None
        columns = [exp.to_identifier("_at"), exp.to_identifier("_e")]
        rows = call("POSEXPLODE", array)
        listed = exp.Table(this=rows, alias=exp.TableAlias(this=exp.to_identifier("_rows"), columns=columns))
        counted = exp.alias_(exp.column("_at"), number if isinstance(number, exp.Identifier) else "offset")
        chosen = [exp.Column(this=exp.Star(), table=exp.to_identifier("_e")), counted]
        source = exp.Subquery(this=exp.select(*chosen).from_(listed))
    source.set("alias", exp.TableAlias(this=(name or exp.to_identifier("_fields")).copy()))
    if name is not None:
        _name_structs(node, name)
    if joined and array.find(exp.Column) is not None:
        return exp.Lateral(this=source.this, view=False, outer=False, alias=source.args["alias"])
    return source


def _name_structs(node: exp.Expr, name: exp.Identifier) -> None:
    """Write the struct of a row for the name of the rows, where it is used as a value."""
    select = node.find_ancestor(exp.Select)
    for column in list(select.find_all(exp.Column)) if select is not None else ():
        if column.table or column.name.lower() != name.name.lower():
            continue
        fields = exp.Column(this=exp.Star(), table=name.copy())
        struct: exp.Expr = call("STRUCT", fields)
        column.replace(exp.alias_(struct, name.copy()) if column.parent is select else struct)


def _has_structs(node: exp.Expr) -> bool:
    array = node.expressions[0]
    kind = array.to.find(exp.DataType) if isinstance(array, exp.Cast) else None
    written = isinstance(array, exp.Array) and any(isinstance(one, exp.Struct) for one in array.expressions)
    return written or (kind is not None and any(one.is_type("struct") for one in kind.expressions))
