"""Rows that are made of a value in FROM, where Spark has another form or name for it.

A join with an array under a condition, `JOIN UNNEST(t.l) AS x ON x > 1`, joins the elements that the condition holds
for: the array is filtered. A path in FROM, `LEFT JOIN t.l AS x ON true`, is the array of the row. In Redshift, it may
be one of JSON, whose elements are JSON texts.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dbt.adapters.tablestore.dialect.array_selects import array_of
from dbt.adapters.tablestore.dialect.column_kinds import ARRAY_OF_ROWS, JSON_TEXT, is_surely
from dbt.adapters.tablestore.dialect.refusal import Columns, Untranslatable, about
from dbt.adapters.tablestore.dialect.rules.json_parts import call

_TEXTS: Final = "ARRAY<STRING>"
_SPLITTING: Final = ("REGEXP_SPLIT_TO_TABLE", "STRING_TO_TABLE")
_MOST_COLUMNS_OF_A_MAP: Final = 2
_PARTS_OF_A_COLUMN: Final = 2
_RECORDS: Final = ("JSONB_TO_RECORDSET", "JSON_TO_RECORDSET", "JSONB_TO_RECORD", "JSON_TO_RECORD")


def read_row_sources(tree: exp.Expr, dialect: str, columns_of: Columns | None) -> None:
    """Change the sources of all queries in a text."""
    if dialect == "databricks":
        return
    for select in list(tree.find_all(exp.Select)):
        joins = select.args.get("joins") or []
        if dialect in ("redshift", "bigquery"):
            _read_paths(select, joins)
        if dialect == "redshift":
            _read_json(select, joins, columns_of)
        for join in joins:
            _filter_elements(join)
    for node in list(tree.find_all(exp.Unnest)) if dialect == "trino" else ():
        _read_rows(node, columns_of)
    for split in list(tree.find_all(exp.SplitToTable, exp.StrtokSplitToTable)):
        _split(split)
    for table in list(tree.find_all(exp.Table, exp.Lateral)):
        _name_splits(table, dialect)


def _read_paths(select: exp.Select, joins: list[exp.Expr]) -> None:
    """JOIN t.l AS x, where t is a source before it: its array."""
    first = select.args.get("from_")
    known = {first.this.alias_or_name.lower()} if first is not None else set()
    for join in joins:
        table = join.this
        if isinstance(table, exp.Table) and table.db.lower() in known and isinstance(table.this, exp.Identifier):
            alias = table.args.get("alias")
            name = alias.this if alias is not None and alias.this else table.this
            column = exp.Column(this=table.this.copy(), table=table.args["db"].copy())
            table.replace(exp.Unnest(expressions=[column], alias=exp.TableAlias(columns=[name.copy()])))
        known.add(_alias_of(join.this))


def _alias_of(source: exp.Expr) -> str:
    alias = source.args.get("alias")
    if isinstance(source, exp.Unnest) and alias is not None and alias.columns:
        return str(alias.columns[0].name).lower()
    return str(source.alias_or_name).lower()


def _read_json(select: exp.Select, joins: list[exp.Expr], columns_of: Columns | None) -> None:
    """The elements of a JSON array, and what is taken from them."""
    read: set[str] = set()
    for join in joins:
        unnest = join.this
        column = unnest.expressions[0] if isinstance(unnest, exp.Unnest) and len(unnest.expressions) == 1 else None
        if not isinstance(column, exp.Column):
            continue
        if len(column.parts) > _PARTS_OF_A_COLUMN:
            _read_path(column, read, unnest, columns_of)
            continue
        if column.parts[0].name.lower() not in read and not is_surely(JSON_TEXT, column, columns_of):
            continue
        read.add(_alias_of(unnest))
        column.replace(call("FROM_JSON", column.copy(), exp.Literal.string(_TEXTS)))
    for column in list(select.find_all(exp.Column)) if read else ():
        parts = [one.name for one in column.parts]
        if len(parts) > 1 and parts[0].lower() in read and column.find_ancestor(exp.Select) is select:
            element = exp.column(column.parts[0].copy())
            column.replace(call("GET_JSON_OBJECT", element, exp.Literal.string("$." + ".".join(parts[1:]))))


def _read_path(column: exp.Column, read: set[str], unnest: exp.Expr, columns_of: Columns | None) -> None:
    """FROM t, t.j.items AS i, of JSON in the column j."""
    table, name, *steps = column.parts
    whole = exp.Column(this=name.copy(), table=table.copy())
    unnest.append("expressions", whole)  # its sources are those of the query
    known = is_surely(JSON_TEXT, whole, columns_of)
    whole.pop()
    if known:
        read.add(_alias_of(unnest))
        path = exp.Literal.string("$." + ".".join(one.name for one in steps))
        column.replace(call("FROM_JSON", call("GET_JSON_OBJECT", whole, path), exp.Literal.string(_TEXTS)))


def _filter_elements(join: exp.Expr) -> None:
    """Put the condition of a join with one array into the array."""
    inner = join.this.this if isinstance(join.this, exp.Lateral) else join.this
    condition = join.args.get("on")
    if not isinstance(inner, exp.Unnest) or condition is None or isinstance(condition, exp.Boolean):
        return
    alias = join.this.args.get("alias") or inner.args.get("alias")
    if alias is None:
        alias = exp.TableAlias()
    names = alias.columns or ([alias.this] if alias.this else [])
    with about(join.this):
        if (
            join.args.get("side") not in (None, "", "LEFT")
            or len(inner.expressions) != 1
            or len(names) != 1
            or inner.args.get("offset")
        ):
            raise Untranslatable(
                "a join with UNNEST under a condition that has several columns or is not LEFT or INNER (write WHERE)"
            )
        if condition.find(exp.Query, exp.AggFunc) is not None:
            raise Untranslatable("a join with UNNEST under a condition with a subquery (write WHERE)")
    test = exp.paren(condition.copy(), copy=False)
    for column in list(test.find_all(exp.Column)):
        parts = [one.name.lower() for one in column.parts]
        if alias.columns and alias.this and len(parts) > 1 and parts[0] == alias.this.name.lower():
            column.set("table", None)
    element = exp.Lambda(this=test.this, expressions=[names[0].copy()])
    inner.set("expressions", [call("FILTER", inner.expressions[0].copy(), element)])
    join.set("on", exp.true())


def _read_rows(node: exp.Expr, columns_of: Columns | None) -> None:
    """Trino's UNNEST of an array of rows has a column for each field; of a map it has two."""
    alias, join = node.args.get("alias"), node.parent
    if len(node.expressions) != 1 or node.args.get("offset") or not isinstance(join, (exp.From, exp.Join)):
        return
    array = node.expressions[0]
    columns = len(alias.columns) if alias is not None else 0
    if columns <= _MOST_COLUMNS_OF_A_MAP and not is_surely(ARRAY_OF_ROWS, array, columns_of):
        return
    outer = isinstance(join, exp.Join) and join.side == "LEFT"
    if isinstance(join, exp.Join):
        join.set("side", None)
        join.set("on", None)
        join.set("kind", "CROSS")
    rows = call("INLINE_OUTER" if outer else "INLINE", array.copy())
    _replace(node, rows, alias)


def _split(split: exp.Expr) -> None:
    """Snowflake's SPLIT_TO_TABLE and STRTOK_SPLIT_TO_TABLE, whose rows are numbered from 1."""
    source = split.parent
    if not isinstance(source, (exp.TableFromRows, exp.Lateral)):
        return
    given = {name: value.copy() for name, value in split.args.items() if value is not None}
    parts: exp.Expr = exp.Split(**given) if isinstance(split, exp.SplitToTable) else exp.StrtokToArray(**given)
    element, index = exp.to_identifier("_e"), exp.to_identifier("_i")
    number = exp.Add(this=exp.column("_i"), expression=exp.Literal.number(1))
    names = ("index", "value")
    fields = [exp.Literal.string(names[0]), number, exp.Literal.string(names[1]), exp.column("_e")]
    entry = exp.Lambda(this=call("NAMED_STRUCT", *fields), expressions=[element, index])
    alias = source.args.get("alias")
    name = alias.this if alias is not None and alias.this else exp.to_identifier("_split")
    columns = exp.TableAlias(this=name.copy(), columns=[exp.to_identifier(one) for one in names])
    _replace(source, call("INLINE", call("TRANSFORM", parts, entry)), columns)


def _replace(source: exp.Expr, rows: exp.Expr, alias: exp.Expr | None) -> None:
    """Put rows where a source was; LATERAL, if they are made of columns of others."""
    alias = alias.copy() if alias is not None else None
    lateral = isinstance(source, exp.Lateral) or (isinstance(source.parent, exp.Join) and rows.find(exp.Column))
    if lateral:
        source.replace(exp.Lateral(this=rows, view=False, outer=False, alias=alias))
    else:
        source.replace(exp.Table(this=rows, alias=alias))


def _number(table: exp.Expr, dialect: str) -> bool:
    """Number the rows of a function of Postgres that are elements of an array; whether they are."""
    array = array_of(table.this) if dialect == "postgres" else None
    if array is None:
        return False
    alias = table.args.get("alias")
    own = alias.this if alias is not None and alias.this else exp.to_identifier("_rows")
    given = [one.name for one in alias.columns] if alias is not None else []
    value = "value" if "ELEMENTS" in table.this.name.upper() else own.name
    names = [*given, *[value, "ordinality"][len(given) :]]
    element, index = exp.to_identifier("_e"), exp.to_identifier("_i")
    number = exp.Add(this=exp.column("_i"), expression=exp.Literal.number(1))
    fields = [exp.Literal.string(names[0]), exp.column("_e"), exp.Literal.string(names[1]), number]
    entry = exp.Lambda(this=call("NAMED_STRUCT", *fields), expressions=[element, index])
    columns = exp.TableAlias(this=own.copy(), columns=[exp.to_identifier(one) for one in names])
    _replace(table, call("INLINE", call("TRANSFORM", array, entry)), columns)
    return True


def _record(table: exp.Expr) -> bool:
    """JSONB_TO_RECORDSET(j) AS x(id int, name text), and JSONB_TO_RECORD of one object; whether a source is one. As in
    Postgres, each member is made of its text."""
    rows, alias = table.this, table.args.get("alias")
    name = rows.name.upper() if isinstance(rows, exp.Anonymous) else ""
    fields = [one for one in alias.columns if isinstance(one, exp.ColumnDef)] if alias is not None else []
    if name not in _RECORDS or len(rows.expressions) != 1 or not fields or alias is None:
        return False
    texts = ", ".join(f"`{one.name}`: STRING" for one in fields)
    pairs = [(exp.Literal.string(one.name), _member(one)) for one in fields]
    entry = call("NAMED_STRUCT", *(part for pair in pairs for part in pair))
    given = rows.expressions[0].copy()
    listed = name.endswith("SET")
    kind = f"ARRAY<STRUCT<{texts}>>" if listed else f"STRUCT<{texts}>"
    parsed = call("FROM_JSON", given, exp.Literal.string(kind))
    array = parsed if listed else call("ARRAY", parsed)
    entries = call("TRANSFORM", array, exp.Lambda(this=entry, expressions=[exp.to_identifier("_r")]))
    own = alias.this.copy() if alias.this else exp.to_identifier("_rows")
    columns = exp.TableAlias(this=own, columns=[one.this.copy() for one in fields])
    _replace(table, call("INLINE", entries), columns)
    return True


def _member(column: exp.Expr) -> exp.Expr:
    text: exp.Expr = exp.Dot(this=exp.column("_r"), expression=exp.to_identifier(column.name, quoted=True))
    kind = column.args["kind"]
    if kind.is_type("array"):
        return call("FROM_JSON", text, exp.Literal.string(kind.sql("spark")))
    return text if kind.is_type("text", "json", "jsonb") else exp.cast(text, kind.copy())


def _name_splits(table: exp.Expr, dialect: str) -> None:
    """The alias of rows of texts names their column, too; Trino's TABLE(SEQUENCE(…)) has sequential_number."""
    if dialect == "postgres" and _record(table):
        return
    rows, alias = table.this, table.args.get("alias")
    if table.args.get("ordinality"):
        if _number(table, dialect):
            return
        raise Untranslatable("WITH ORDINALITY of another function than unnest(…), which takes the array of the rows")
    if not isinstance(rows, exp.Anonymous):
        return
    name = rows.name.upper()
    own = alias.this.copy() if alias is not None and alias.this else exp.to_identifier("_rows")
    columns = list(alias.columns) if alias is not None else []
    if name in _SPLITTING and dialect in ("postgres", "duckdb"):
        columns = columns or [own.copy()]
    elif name == "TABLE" and dialect == "trino" and isinstance(rows.expressions[0], exp.GenerateSeries):
        columns = columns or [exp.to_identifier("sequential_number")]
        rows = call("EXPLODE", rows.expressions[0].copy())
        for bound in list(rows.find_all(exp.Kwarg)):
            bound.replace(bound.expression.copy())
    else:
        return
    _replace(table, rows.copy(), exp.TableAlias(this=own, columns=columns))
