"""MERGE, UPDATE and DELETE: their clauses, conditions and assignments.

`with_sql` is the text of the common table expressions before a statement; see `common_table_expressions`. DEFAULT as a
value stays as it is: only the schema says what it means.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.parse.parse_insert import dynamic_options, schema_evolution
from tablestore_engine.sql.statements.row import Delete, Merge, MergeClause, Update
from tablestore_engine.sql.statements.statement import Assignment, Statement, TableName
from tablestore_engine.sql.tokens.common_table_expressions import inline_ctes
from tablestore_engine.sql.tokens.cursor import OWN_CATALOGS, Cursor, error_at


def update(cursor: Cursor, with_sql: str | None) -> Statement:
    cursor.expect("UPDATE")
    table = cursor.table_name()
    options = dynamic_options(cursor)
    alias = _alias(cursor, "SET")
    cursor.expect("SET")
    assignments = _assignments(cursor, table, alias, with_sql, ("WHERE", "FROM"))
    if cursor.key == "FROM":
        raise cursor.error("UPDATE … FROM is not supported", kind=SqlError, hint="Use MERGE INTO.")
    where = _where(cursor, with_sql)
    return Update(
        sql=cursor.text,
        table=table,
        dynamic_options=options,
        alias=alias,
        assignments=assignments,
        where_sql=where,
    )


def delete(cursor: Cursor, with_sql: str | None) -> Statement:
    cursor.expect("DELETE", "FROM")
    table = cursor.table_name()
    options = dynamic_options(cursor)
    alias = _alias(cursor, "WHERE", "USING")
    if cursor.key == "USING":
        raise cursor.error(
            "DELETE … USING is not supported",
            kind=SqlError,
            hint="Use WHERE … IN (SELECT …), WHERE EXISTS (…) or MERGE INTO … WHEN MATCHED THEN DELETE.",
        )
    where = _where(cursor, with_sql)
    return Delete(sql=cursor.text, table=table, dynamic_options=options, alias=alias, where_sql=where)


def _where(cursor: Cursor, with_sql: str | None) -> str | None:
    if cursor.at_end:
        return None
    cursor.expect("WHERE")
    return inline_ctes(with_sql, cursor.rest("a condition"))


def _alias(cursor: Cursor, *stops: str) -> str | None:
    if cursor.accept("AS"):
        return cursor.name("an alias")
    if cursor.token.is_name and cursor.key not in stops:
        return cursor.name()
    return None


def _assignments(
    cursor: Cursor, table: TableName, alias: str | None, with_sql: str | None, stops: tuple[str, ...]
) -> tuple[Assignment, ...]:
    found = []
    while True:
        qualifier, (column, *path) = _own_path(cursor, table, alias)
        if not cursor.accept_one("=", "=="):
            raise cursor.error("Expected =")
        found.append(Assignment(column, _value(cursor, with_sql, ",", *stops), tuple(path), qualifier))
        if not cursor.accept(","):
            break
    return tuple(found)


def _value(cursor: Cursor, with_sql: str | None, *stops: str) -> str:
    """The text of a value, up to one of the keys."""
    return inline_ctes(with_sql, cursor.until(*stops, what="a value"))


def _own_path(cursor: Cursor, table: TableName, alias: str | None) -> tuple[str | None, Sequence[str]]:
    """A column of the statement's table, or a field of it: its qualifier, if it is one name, and the rest. An alias
    hides the table's name."""
    parts = cursor.dotted("a column name")
    names = [[(table.database or "").lower(), table.name.lower()], [table.name.lower()]]
    if alias is not None:
        names = [[alias.lower()]]
    elif parts[0].lower() in OWN_CATALOGS and [part.lower() for part in parts[1:-1]][:2] == names[0]:
        parts = parts[1:]  # tablestore.schema.table.column
    for name in names:
        if len(parts) > len(name) and [part.lower() for part in parts[: len(name)]] == name:
            return parts[0] if len(name) == 1 else None, parts[len(name) :]
    return None, parts


def refuse_hidden_name(parts: Sequence[str], table: TableName, alias: str) -> None:
    """Raise a SqlError for a dotted name that begins with the name of a table, which its alias hides."""
    named = parts[1:] if parts[0].lower() in OWN_CATALOGS else parts
    called = [part.lower() for part in named]
    for at in (1, 2):
        schema = (table.database or called[0]).lower()
        if len(called) > at and called[:at] == [schema, table.name.lower()][-at:]:
            raise SqlError(
                f"'{'.'.join(parts)}' is not a column: the alias {alias} hides the name of table {table}.",
                hint=f"Write {'.'.join([alias, *named[at:]])}.",
            )


def _own_column(cursor: Cursor, table: TableName, alias: str | None) -> str:
    """A column of the statement's table, with or without a qualifier."""
    start = cursor.i
    _, (column, *path) = _own_path(cursor, table, alias)
    if not path:
        return column
    cursor.i = start
    if alias is not None:
        refuse_hidden_name((column, *path), table, alias)
    raise cursor.error(
        f"'{'.'.join([column, *path])}' is not a column of {table}",
        kind=SqlError,
        hint="Give the whole struct, for example by struct(…).",
    )


def merge(cursor: Cursor, with_sql: str | None) -> Statement:
    cursor.expect("MERGE")
    evolution = schema_evolution(cursor)
    cursor.expect("INTO")
    target = cursor.table_name()
    options = {**dynamic_options(cursor), **evolution}
    target_alias = _alias(cursor, "USING")
    cursor.expect("USING")
    source, unaliased, source_alias = _merge_source(cursor, with_sql)
    columns = cursor.names_in_parentheses() if source_alias and cursor.key == "(" else ()
    cursor.expect("ON")
    on = inline_ctes(with_sql, cursor.until("WHEN", what="a condition"))
    clauses: dict[str, list[MergeClause]] = {"MATCHED": [], "NOT MATCHED": [], "NOT MATCHED BY SOURCE": []}
    while not cursor.at_end:
        at = cursor.token
        kind, clause = _merge_clause(cursor, target, target_alias, with_sql)
        if clauses[kind] and clauses[kind][-1].condition_sql is None:
            raise error_at(
                cursor.text,
                at,
                f"This clause never applies, because a clause WHEN {kind} without a condition comes before it,",
                kind=SqlError,
                hint="Give the earlier clause a condition (AND …), or write it last.",
            )
        clauses[kind].append(clause)
    if not any(clauses.values()):
        raise cursor.error("Expected WHEN MATCHED or WHEN NOT MATCHED")
    return Merge(
        sql=cursor.text,
        table=target,
        dynamic_options=options,
        target_alias=target_alias,
        source_sql=source,
        unaliased_source=unaliased,
        source_alias=source_alias,
        source_columns=columns,
        on_sql=on,
        matched=tuple(clauses["MATCHED"]),
        not_matched=tuple(clauses["NOT MATCHED"]),
        not_matched_by_source=tuple(clauses["NOT MATCHED BY SOURCE"]),
    )


def _merge_source(cursor: Cursor, with_sql: str | None) -> tuple[str, TableName | None, str | None]:
    """The source as an item of a FROM list, its name when it is a table without an alias, and its alias."""
    start = cursor.i
    if cursor.key == "(":
        cursor.skip_group()
        return inline_ctes(with_sql, cursor.slice(start, cursor.i)), None, _alias(cursor, "ON")
    parts = cursor.dotted("a table or a query in parentheses")
    source = cursor.slice(start, cursor.i)
    alias = _alias(cursor, "ON")
    if with_sql is not None and len(parts) == 1:
        return f"({with_sql} SELECT * FROM {source})", None, alias or parts[-1]
    others = len(parts) > 3 or (len(parts) == 3 and parts[0].lower() not in OWN_CATALOGS)
    unaliased = None if others or alias else TableName(parts[-2] if len(parts) > 1 else None, parts[-1])
    return source, unaliased, alias or parts[-1]


def _merge_clause(
    cursor: Cursor, target: TableName, alias: str | None, with_sql: str | None
) -> tuple[str, MergeClause]:
    cursor.expect("WHEN")
    if cursor.accept_one("NOT", "!"):
        cursor.expect("MATCHED")
        kind = "NOT MATCHED BY SOURCE" if cursor.accept("BY", "SOURCE") else "NOT MATCHED"
        cursor.accept("BY", "TARGET")
    else:
        cursor.expect("MATCHED")
        kind = "MATCHED"
    condition = None
    if cursor.accept("AND"):
        condition = inline_ctes(with_sql, cursor.until("THEN", what="a condition"))
    cursor.expect("THEN")
    allowed = ("INSERT",) if kind == "NOT MATCHED" else ("UPDATE", "DELETE")
    action = cursor.accept_one(*allowed)
    if action is None:
        raise cursor.error(f"Expected {' or '.join(allowed)} after WHEN {kind} THEN")
    if action == "DELETE":
        return kind, MergeClause(action=action, condition_sql=condition)
    if action == "INSERT":
        return kind, _merge_insert(cursor, target, alias, with_sql, condition)
    cursor.expect("SET")
    if kind == "MATCHED" and cursor.accept("*"):
        return kind, MergeClause(action=action, condition_sql=condition, star=True)
    assignments = _assignments(cursor, target, alias, with_sql, ("WHEN",))
    return kind, MergeClause(action=action, condition_sql=condition, assignments=assignments)


def _merge_insert(
    cursor: Cursor, target: TableName, alias: str | None, with_sql: str | None, condition: str | None
) -> MergeClause:
    if cursor.accept("*"):
        return MergeClause(action="INSERT", condition_sql=condition, star=True)
    cursor.expect("(", hint="Write INSERT * or INSERT (columns) VALUES (values).")
    columns: list[str] = []
    while not columns or cursor.accept(","):
        at, column = cursor.token, _own_column(cursor, target, alias)
        if column in columns:
            raise error_at(cursor.text, at, f"INSERT lists column '{column}' twice", kind=SqlError)
        columns.append(column)
    cursor.expect(")", "VALUES", "(")
    values = [_value(cursor, with_sql, ",")]
    while cursor.accept(","):
        values.append(_value(cursor, with_sql, ","))
    if len(values) != len(columns):
        raise cursor.error(f"INSERT lists {len(columns)} columns and {len(values)} values", kind=SqlError)
    cursor.expect(")")
    return MergeClause(action="INSERT", condition_sql=condition, columns=tuple(columns), values_sql=tuple(values))
