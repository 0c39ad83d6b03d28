"""CREATE TABLE, and the parts that other statements also use: columns, types, properties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from tablestore_engine.errors import SqlError
from tablestore_engine.schema.table.check_constraints import CheckConstraint, check_options, find_check, unnamed_check
from tablestore_engine.schema.table.computed_columns import Watermark, computed_options
from tablestore_engine.sql.parse.parse_foreign import refuse_like
from tablestore_engine.sql.statements.statement import ColumnDefinition, Existing, Statement, TableName
from tablestore_engine.sql.statements.table import CreateTable, CreateTableAs, CreateTableLike
from tablestore_engine.sql.tokens.column_list import leads_to_query, opens_query, refuse_computed, without_query
from tablestore_engine.sql.tokens.constants import random_call
from tablestore_engine.sql.tokens.cursor import Cursor, properties
from tablestore_engine.sql.tokens.lexer import NUMBER, STRING, behind, behind_type_part

OWN_PROVIDERS: Final = frozenset(["tablestore", "paimon"])
NO_COLLATION: Final = ("A default COLLATION is not supported", "Leave it out, and write COLLATE in queries.")

Refused = Mapping[str, tuple[str, str | None]]
"""Words that begin a clause which is refused where it begins: what is wrong, and what to do. A clause of a column's
definition names the column as {column}."""
_REFUSED: Final[Refused] = {
    "LOCATION": ("Managed tables own their storage, so LOCATION is refused", "Leave it out."),
    "CLUSTER": ("CLUSTER BY is not a clause of managed tables", "Rows are clustered by the primary key."),
    "SKEWED": ("SKEWED BY is not supported", "Leave it out."),
    "DEFAULT": NO_COLLATION,
    "ROW": ("ROW FORMAT is not supported", "Leave it out: managed tables choose their own file format."),
    "STORED": ("STORED AS is not supported", "Write WITH ('file.format' = 'parquet') instead."),
}
_OF_NEW_COLUMN: Final[Refused] = dict.fromkeys(
    ("FIRST", "AFTER"), ("Column {column} cannot be given a position: the list gives it", None)
)
AFTER_TYPE: Final = frozenset(
    [
        *("NOT", "NULL", "COMMENT", "DEFAULT", "GENERATED", "PRIMARY", "UNIQUE", "CHECK", "CONSTRAINT"),
        *("REFERENCES", "FOREIGN", "FIRST", "AFTER", "AS"),
    ]
)


@dataclass
class _Head:
    """The parts of CREATE TABLE that were parsed so far. The conditions of `checks` have names, which may be empty."""

    columns: list[ColumnDefinition] = field(default_factory=list)
    primary_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    comment: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    checks: list[tuple[str, str]] = field(default_factory=list)


def create_table(cursor: Cursor, verb: Existing) -> Statement:
    """CREATE TABLE, starting after TABLE: with columns, AS a query, or LIKE a table."""
    existing = cursor.accept_existing(verb)
    table = cursor.table_name()
    if cursor.accept("LIKE"):
        return _create_like(cursor, table, existing)
    if cursor.key == "CLONE" or (cursor.key in ("SHALLOW", "DEEP") and cursor.key_at(1) == "CLONE"):
        raise cursor.error(
            "CREATE TABLE … CLONE is not supported",
            kind=SqlError,
            hint="Use CREATE TABLE … AS SELECT * FROM the other table.",
        )
    head = _Head()
    if cursor.key == "(" and not opens_query(cursor):
        _elements(cursor, head, table, typed=not leads_to_query(cursor))
    listed = len(head.columns)
    _clauses(cursor, head)
    head.options |= check_options(_named_checks(cursor, head))
    said = CreateTable(
        sql=cursor.text,
        table=table,
        columns=tuple(head.columns),
        primary_key=head.primary_key,
        partition_by=head.partition_by,
        comment=head.comment,
        options=head.options,
        existing=existing,
    )
    explicit = cursor.accept("AS")
    if cursor.sees_query():
        refuse_computed(cursor, [one.name for one in head.columns if one.computed_sql is not None])
        if len(head.columns) > listed:
            raise cursor.error(
                "PARTITIONED BY of CREATE TABLE … AS names columns of the query",
                kind=SqlError,
                hint="Leave the types out, and cast in the query.",
            )
        return CreateTableAs(**vars(said), query_sql=cursor.rest())
    if explicit:
        raise cursor.error("Expected a query after AS")
    cursor.expect_end()
    if not head.columns:
        raise cursor.error(f"Table {table} has no columns", hint="List columns, or add AS SELECT ….")
    return said


def _create_like(cursor: Cursor, table: TableName, existing: Existing) -> Statement:
    source, head = cursor.table_name(), _Head()
    _clauses(cursor, head)
    if head.partition_by:
        hint = "Leave PARTITIONED BY out, or use CREATE TABLE … AS SELECT * FROM the other table WHERE false."
        raise cursor.error("CREATE TABLE … LIKE takes the partitions of the other table", kind=SqlError, hint=hint)
    cursor.expect_end()
    return CreateTableLike(
        sql=cursor.text, table=table, source=source, comment=head.comment, options=head.options, existing=existing
    )


def _elements(cursor: Cursor, head: _Head, table: TableName, *, typed: bool) -> None:
    """The parenthesized list of columns and constraints. `typed`: each column must have a type."""
    cursor.expect("(")
    while True:
        refuse_like(cursor, table)
        if cursor.sees("WATERMARK", "FOR"):
            _watermark(cursor, head)
        elif not _table_constraint(cursor, head):
            _column(cursor, head, typed=typed)
        if not cursor.accept(","):
            break
    cursor.expect(")")


def _column(cursor: Cursor, head: _Head, *, typed: bool = True) -> ColumnDefinition:
    computed = computed_column(cursor)
    column, is_key = (computed, False) if computed else column_definition(cursor, _OF_NEW_COLUMN, typed=typed)
    head.columns.append(column)
    head.checks += column.checks
    if is_key:
        _set_primary_key(cursor, head, (column.name,))
    return column


def _watermark(cursor: Cursor, head: _Head) -> None:
    """``WATERMARK FOR column AS expression``: kept for other engines."""
    cursor.i += 2
    column = ".".join(cursor.dotted("a column name"))
    cursor.expect("AS")
    head.options |= computed_options((), Watermark(column, without_query(cursor, "A watermark")))


def computed_column(cursor: Cursor, *, movable: bool = False) -> ColumnDefinition | None:
    """``name AS expression [COMMENT '…']``, with FIRST or AFTER where it is `movable`; None for another column."""
    if not (cursor.token.is_name and cursor.key_at(1) == "AS"):
        return None
    name = cursor.name("a column name")
    cursor.expect("AS")
    sql = without_query(cursor, f"The computed column {name}", "COMMENT", *(("FIRST", "AFTER") if movable else ()))
    comment = cursor.string() if cursor.accept("COMMENT") else None
    first = movable and cursor.accept("FIRST")
    after = cursor.name("a column name") if movable and cursor.accept("AFTER") else None
    return ColumnDefinition(name, "", comment=comment, computed_sql=sql, first=first, after=after)


def _table_constraint(cursor: Cursor, head: _Head) -> bool:
    named, name = cursor.key == "CONSTRAINT" and cursor.key_at(2) in ("PRIMARY", "UNIQUE", "CHECK", "FOREIGN"), ""
    if named:
        name = cursor.tokens[cursor.i + 1].name
        cursor.i += 2
    if cursor.sees("CHECK", "("):
        head.checks.append((name, check_condition(cursor)))
        return True
    if cursor.accept("PRIMARY", "KEY"):
        columns = cursor.names_in_parentheses("a key column")
        _constraint_flags(cursor)
        _set_primary_key(cursor, head, columns)
        return True
    if cursor.sees("FOREIGN", "KEY") or (cursor.key == "UNIQUE" and (named or cursor.key_at(1) == "(")):
        raise _unkept(cursor)
    return False


def check_condition(cursor: Cursor) -> str:
    """``CHECK (condition) [ENFORCED]``: the condition. Raises SqlError for a query or a random value in it, and for
    NOT ENFORCED."""
    cursor.expect("CHECK")
    cursor.expect("(")
    start = cursor.i
    sql = cursor.until(what="a condition")
    query = next((i for i in range(start, cursor.i) if cursor.tokens[i].key == "SELECT"), None)
    if query is not None:
        cursor.i = query
        raise cursor.error(
            "The condition of a CHECK constraint holds a query", kind=SqlError, hint="It is about one row of the table."
        )
    call = random_call(cursor.tokens[start : cursor.i])
    if call is not None:
        raise cursor.error(
            f"The condition of a CHECK constraint calls {call.text}(), which gives another value each time",
            kind=SqlError,
            hint="It is about one row of the table.",
        )
    cursor.expect(")")
    if cursor.sees("NOT", "ENFORCED"):
        raise cursor.error("A CHECK constraint is always enforced", kind=SqlError, hint="Leave NOT ENFORCED out.")
    _constraint_flags(cursor)
    return sql


def _named_checks(cursor: Cursor, head: _Head) -> list[CheckConstraint]:
    """The constraints of the table. Raises SqlError when two have one name."""
    found = [CheckConstraint(name, sql) for name, sql in head.checks if name]
    for i, one in enumerate(found):
        if find_check(check_options(found[:i]), one.name):
            raise cursor.error(f"Two constraints have the name {one.name}", kind=SqlError, hint="Choose another name.")
    columns = [one.name for one in head.columns]
    for sql in (sql for name, sql in head.checks if not name):
        found.append(unnamed_check(sql, columns, check_options(found)))
    return found


def _set_primary_key(cursor: Cursor, head: _Head, columns: tuple[str, ...]) -> None:
    if head.primary_key:
        raise cursor.error("The table has a second primary key", kind=SqlError, hint="List all key columns in one key.")
    head.primary_key = columns


def _constraint_flags(cursor: Cursor) -> None:
    while cursor.accept("NOT", "ENFORCED") or cursor.accept_one("ENFORCED", "RELY", "NORELY"):
        pass


def _unkept(cursor: Cursor) -> SqlError:
    name = "FOREIGN KEY" if cursor.key in ("FOREIGN", "REFERENCES") else cursor.key
    return cursor.error(
        f"A {name} constraint cannot be enforced by a managed table",
        kind=SqlError,
        hint="Leave it out, and test the rows. PRIMARY KEY, NOT NULL and CHECK are enforced.",
    )


def column_definition(cursor: Cursor, refused: Refused, *, typed: bool = True) -> tuple[ColumnDefinition, bool]:
    """``name type [NOT NULL] [DEFAULT …] [COMMENT '…'] [PRIMARY KEY] [FIRST | AFTER c]``; and whether it is
    declared the primary key. Where it need not be `typed`, the text of the type may be empty.

    Raises:
        SqlError: a clause is one of `refused`.
    """
    name = cursor.name("a column name")
    _refuse_clause(cursor, refused, name)
    untyped = not typed and (cursor.key in (",", ")") or cursor.key in AFTER_TYPE)
    type_sql = "" if untyped else column_type(cursor, name)
    column, is_key, constraint = ColumnDefinition(name, type_sql), False, ""
    while cursor.key not in (",", ")") and not cursor.at_end:
        _refuse_clause(cursor, refused, name)
        if cursor.accept("NOT", "NULL") or cursor.accept("!", "NULL"):
            column, constraint = replace(column, nullable=False), ""
        elif cursor.accept("NULL"):
            pass
        elif cursor.accept("COMMENT"):
            column = replace(column, comment=cursor.comment(column.comment))
        elif cursor.accept("PRIMARY", "KEY"):
            is_key, constraint = True, ""
            _constraint_flags(cursor)
        elif cursor.accept("DEFAULT"):
            if column.default_sql is not None:
                raise cursor.error(f"Column {name} has two DEFAULT clauses", kind=SqlError, hint="Leave one out.")
            column = replace(column, default_sql=_default(cursor))
        elif cursor.accept("FIRST"):
            column = replace(column, first=True)
        elif cursor.accept("AFTER"):
            column = replace(column, after=cursor.name("a column name"))
        elif cursor.key == "CONSTRAINT" and cursor.tokens[cursor.i + 1].is_name:
            constraint = cursor.tokens[cursor.i + 1].name
            cursor.i += 2
        elif cursor.sees("CHECK", "("):
            column = replace(column, checks=(*column.checks, (constraint, check_condition(cursor))))
            constraint = ""
        elif cursor.key in ("UNIQUE", "CHECK", "REFERENCES", "FOREIGN"):
            raise _unkept(cursor)
        elif cursor.key in ("GENERATED", "AS"):
            column = replace(column, computed_sql=_generated(cursor, type_sql))
        else:
            raise cursor.error(f"The definition of column {name} is not understood")
    if column.computed_sql is not None and (is_key or not column.nullable or column.default_sql is not None):
        raise cursor.error(
            f"Column {name} is computed, so it has no DEFAULT, and is not NOT NULL or a key", kind=SqlError
        )
    return column, is_key


def _refuse_clause(cursor: Cursor, refused: Refused, column: str = "") -> None:
    if cursor.key in refused:
        message, hint = refused[cursor.key]
        raise cursor.error(message.format(column=column), kind=SqlError, hint=hint)


def _generated(cursor: Cursor, type_sql: str) -> str:
    """``[GENERATED ALWAYS] AS (expression)``: the expression as a value of the column's type."""
    if not (cursor.accept("GENERATED", "ALWAYS", "AS") or cursor.accept("AS")) or cursor.key != "(":
        raise cursor.error(
            "Identity columns are not supported", kind=SqlError, hint="Compute the numbers in the query."
        )
    cursor.expect("(")
    sql = cursor.until(what="an expression")
    cursor.expect(")")
    return f"CAST({sql} AS {type_sql})"


def column_type(cursor: Cursor, column: str) -> str:
    """The text of a type, which ends before a clause of the column, a comma or a closing parenthesis."""
    start = cursor.i
    while not cursor.at_end:
        token = cursor.token
        if token.key in (",", ")") or token.key in AFTER_TYPE or token.kind in (STRING, NUMBER):
            break
        cursor.i = behind_type_part(cursor.tokens, cursor.i)
    if cursor.i == start:
        raise cursor.error(f"Column {column} has no type")
    return cursor.slice(start, cursor.i)


def _default(cursor: Cursor) -> str:
    """The expression after DEFAULT: its first token may be any, also NULL; it ends before the next column clause."""
    start = cursor.i
    while not cursor.at_end and cursor.key not in (",", ")") and not (cursor.i > start and _has_more_clauses(cursor)):
        cursor.i = behind(cursor.tokens, cursor.i)
    if cursor.i == start:
        raise cursor.error("Expected a value after DEFAULT")
    return cursor.slice(start, cursor.i)


def _has_more_clauses(cursor: Cursor) -> bool:
    return cursor.sees("NOT", "NULL") or (cursor.key in AFTER_TYPE and cursor.key not in ("NOT", "NULL"))


def _clauses(cursor: Cursor, head: _Head) -> None:
    """The clauses between the columns and AS, in any order."""
    while not cursor.at_end:
        if cursor.key == "USING":
            _provider(cursor)
        elif cursor.accept("PARTITIONED", "BY"):
            _partitioned_by(cursor, head)
        elif cursor.accept("COMMENT"):
            head.comment = cursor.comment(head.comment)
        elif cursor.key in ("TBLPROPERTIES", "OPTIONS") or cursor.sees("WITH", "("):
            cursor.i += 1
            head.options.update(properties(cursor))
        elif cursor.accept("CLUSTERED", "BY"):
            _clustered_by(cursor, head)
        else:
            _refuse_clause(cursor, _REFUSED)
            return


def _clustered_by(cursor: Cursor, head: _Head) -> None:
    """``(a, b) INTO 4 BUCKETS``: the options of buckets."""
    columns = cursor.names_in_parentheses()
    if cursor.key == "SORTED":
        raise cursor.error("SORTED BY is not supported", kind=SqlError, hint="Rows are sorted by the primary key.")
    cursor.expect("INTO")
    if cursor.token.kind != NUMBER:
        raise cursor.error("Expected a number of buckets")
    head.options.update({"bucket": cursor.token.text, "bucket-key": ",".join(columns)})
    cursor.i += 1
    cursor.expect("BUCKETS")


def _provider(cursor: Cursor) -> None:
    cursor.expect("USING")
    start = cursor.i
    provider = ".".join(cursor.dotted("a format"))
    if provider.lower() not in OWN_PROVIDERS:
        cursor.i = start
        raise cursor.error(
            f"Every table here is a managed table, so USING {provider} is refused",
            kind=SqlError,
            hint="Leave USING out; files of other formats can be read by format.`path` or a temporary view.",
        )


def _partitioned_by(cursor: Cursor, head: _Head) -> None:
    """``(a, b)``; with types, it also declares the columns."""
    if head.partition_by:
        raise cursor.error("There are two PARTITIONED BY clauses", kind=SqlError, hint="Leave one out.")
    cursor.expect("(")
    names = []
    while True:
        if cursor.key_at(1) == "(":
            raise cursor.error(
                "Partitions by an expression are not supported",
                kind=SqlError,
                hint="Add a column that holds the value and partition by it.",
            )
        if cursor.key_at(1) in (",", ")"):
            names.append(cursor.name("a partition column"))
        else:
            names.append(_column(cursor, head).name)
        if not cursor.accept(","):
            break
    cursor.expect(")")
    head.partition_by = tuple(names)
