"""Queries over arrays in BigQuery.

Spark does not have those over one array inside of an expression: functions of arrays say the same.

In BigQuery, `(select value from unnest(params) where key = 'k')`, `exists(select 1 from unnest(l) as x where …)` and
`array(select … from unnest(l) as x)` read an array of a row. Without an alias of the array, columns are fields of its
elements; with one, columns without it are those of the row.

In FROM, an array of structs is a table: the fields are its columns, and its alias is the struct of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.rules.json_parts import call

_ELEMENT: Final = "_e"
_AGGREGATES: Final[Mapping[type[exp.Expr], str]] = {exp.Max: "ARRAY_MAX", exp.Min: "ARRAY_MIN"}
_ONE: Final = exp.Literal.number(1)
_ELSEWHERE: Final = ("joins", "laterals", "group", "having", "qualify", "windows", "with_", "offset", "kind")


def read_arrays_by_functions(tree: exp.Expr, dialect: str) -> None:
    """Replace such queries, inner ones first. Other queries over arrays stay as they are."""
    if dialect != "bigquery":
        return
    for node in reversed(list(tree.find_all(exp.Subquery, exp.Exists, exp.Array))):
        query = node.expressions[0] if isinstance(node, exp.Array) and len(node.expressions) == 1 else node.this
        if not isinstance(query, exp.Select) or (isinstance(node, exp.Subquery) and not _is_scalar(node)):
            continue
        made = _replacement(node, query)
        if made is not None:
            node.replace(made)


def _is_scalar(node: exp.Subquery) -> bool:
    return not isinstance(node.parent, (exp.From, exp.Join, exp.Lateral, exp.CTE, exp.SetOperation, exp.In, exp.Any))


def _replacement(node: exp.Expr, query: exp.Select) -> exp.Expr | None:
    source = query.args.get("from_")
    unnest = source.this if source is not None else None
    if not isinstance(unnest, exp.Unnest) or len(unnest.expressions) != 1 or len(query.expressions) != 1:
        return None
    if any(query.args.get(name) for name in _ELSEWHERE) or not _in_order(query, unnest):
        return None
    name, over = _scope(unnest)
    where = query.args.get("where")
    array = unnest.expressions[0].copy()
    if isinstance(node, exp.Exists):
        test = over(where.this) if where is not None else exp.true()
        return call("EXISTS", array, _lambda(name, test))
    if where is not None:
        array = call("FILTER", array, _lambda(name, over(where.this)))
    value = query.expressions[0].unalias()
    if isinstance(node, exp.Array):
        return _listed(array, name, over(value), query)
    return None if query.args.get("distinct") or query.args.get("order") else _single(array, name, over, value, query)


def _listed(array: exp.Expr, name: str, value: exp.Expr, query: exp.Select) -> exp.Expr | None:
    if query.args.get("limit") is not None or value.find(exp.AggFunc) is not None:
        return None
    listed = call("TRANSFORM", array, _lambda(name, value))
    return call("ARRAY_DISTINCT", listed) if query.args.get("distinct") else listed


def _single(
    array: exp.Expr, name: str, over: Callable[[exp.Expr], exp.Expr], value: exp.Expr, query: exp.Select
) -> exp.Expr | None:
    limit = query.args.get("limit")
    if isinstance(value, exp.Count) and isinstance(value.this, exp.Star):
        return None if limit is not None else call("SIZE", array)
    if type(value) in _AGGREGATES and not value.expressions:
        return call(_AGGREGATES[type(value)], call("TRANSFORM", array, _lambda(name, over(value.this))))
    first = limit is None or (isinstance(limit.expression, exp.Literal) and limit.expression.name == "1")
    if not first or value.find(exp.AggFunc, exp.Subquery, exp.Star) is not None:
        return None
    return call("TRY_ELEMENT_AT", call("TRANSFORM", array, _lambda(name, over(value))), _ONE.copy())


def _in_order(query: exp.Select, unnest: exp.Unnest) -> bool:
    """Whether the rows stay in the order of the array, and their numbers are not used otherwise."""
    number, order = unnest.args.get("offset"), query.args.get("order")
    named = number.name.lower() if isinstance(number, exp.Expr) else "offset"
    if order is not None:
        keys = order.expressions
        if not number or len(keys) != 1 or keys[0].args.get("desc") or keys[0].this.name.lower() != named:
            return False
    parts = [*query.expressions, *([query.args["where"]] if query.args.get("where") else [])]
    used = [one.name.lower() for part in parts for one in part.find_all(exp.Column) if not one.table]
    return not number or named not in used


def _scope(unnest: exp.Unnest) -> tuple[str, Callable[[exp.Expr], exp.Expr]]:
    """The name of an element, and a function that makes an expression on the row of a query one on the element."""
    alias = unnest.args.get("alias")
    names = [one.name for one in (alias.columns if alias is not None else [])] or ([alias.name] if alias else [])
    name = names[0] if names and names[0] else _ELEMENT

    def over(value: exp.Expr) -> exp.Expr:
        whole = exp.paren(value.copy(), copy=False)
        for column in list(whole.find_all(exp.Column)) if name == _ELEMENT else ():
            parts = [one.copy() for one in column.parts]
            field: exp.Expr = exp.column(_ELEMENT)
            for part in parts:
                field = exp.Dot(this=field, expression=part)
            column.replace(field)
        return whole.this

    return name, over


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
