"""ALTER TABLE … ADD, DROP, RENAME, ALTER, CHANGE, MODIFY and REPLACE COLUMNS, SET and UNSET TBLPROPERTIES, SET COMMENT.

After a comma, the next item of the same verb follows; or another action of the same statement: a verb with COLUMN, or
of properties. Flink's spellings are understood, too: ADD, DROP, RENAME and MODIFY without COLUMN.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tablestore_engine.errors import SqlError
from tablestore_engine.sql.parse.parse_table import (
    AFTER_TYPE,
    Refused,
    column_definition,
    column_type,
    computed_column,
)
from tablestore_engine.sql.statements.columns import (
    AddColumn,
    AddPartitionField,
    AlterColumn,
    AlterColumns,
    ColumnAction,
    DropColumn,
    DropPartitionField,
    RenameColumn,
    ReplaceColumns,
    SetDefault,
    SetProperties,
    SetTableComment,
    TableAction,
    UnsetProperties,
)
from tablestore_engine.sql.statements.statement import ColumnDefinition, Statement, TableName
from tablestore_engine.sql.statements.table import CommentOn, SetTableProperties, UnsetTableProperties
from tablestore_engine.sql.tokens.cursor import Cursor, properties, property_key

_COLUMN = ("COLUMN", "COLUMNS")
_VERBS = ("ADD", "DROP", "RENAME", "ALTER", "CHANGE", "MODIFY")
# Words after ADD or DROP that name something other than a column.
_NO_COLUMNS = frozenset(
    ["PARTITION", "CONSTRAINT", "PRIMARY", "IF", "UNIQUE", "FOREIGN", "CHECK", "WATERMARK", "TAG", "BRANCH"]
)

_OF_ADDED: Final[Refused] = {
    "CHECK": (
        "The definition of column {column} has a CHECK constraint",
        "Add it by a statement of its own: ALTER TABLE … ADD CONSTRAINT name CHECK (condition).",
    ),
    "PRIMARY": ("Column {column} cannot become the primary key of a table that exists", "Create another table."),
}
_COMPUTED: Final = ("AS", "GENERATED")
_OF_FIELD: Final[Refused] = {
    **_OF_ADDED,
    **dict.fromkeys(_COMPUTED, ("The field {column} of a struct cannot be computed", None)),
}
_OF_REPLACED: Final[Refused] = {
    **_OF_ADDED,
    **dict.fromkeys(_COMPUTED, ("REPLACE COLUMNS cannot add the computed column {column}", "Add it by ADD COLUMN.")),
}
_OF_CHANGED: Final[Refused] = {
    **_OF_ADDED,
    **dict.fromkeys(_COMPUTED, ("A definition of a column that exists cannot have an expression", None)),
    "DEFAULT": ("A definition of a column that exists cannot have a DEFAULT", "Use ALTER COLUMN … SET DEFAULT."),
}


def alter_columns(cursor: Cursor, table: TableName) -> Statement | None:
    """The statement that begins here; None, without moving, when it is about something else than columns."""
    start = cursor.i
    actions: list[TableAction] = []
    while True:
        found = _next(cursor)
        if found is None:
            break
        actions += found
        if not cursor.accept(","):
            return _statement(cursor, table, actions)
    if actions and cursor.tokens[cursor.i - 1].key == ",":
        raise cursor.error("Expected another action after the comma", hint="RENAME TO and others are statements.")
    cursor.i = start
    return None


def _next(cursor: Cursor) -> list[TableAction] | None:
    """The actions that begin here, with one verb; None for others."""
    about_properties = property_action(cursor)
    if about_properties is not None:
        return [about_properties]
    verb = _verb(cursor)
    found = None if verb is None else _actions(cursor, verb)
    return None if found is None else [*found]


def property_action(cursor: Cursor) -> SetProperties | UnsetProperties | SetTableComment | None:
    """``SET TBLPROPERTIES (…)``, ``UNSET TBLPROPERTIES [IF EXISTS] (…)``, ``SET COMMENT '…'``; None for others."""
    if cursor.accept("SET", "TBLPROPERTIES") or (cursor.sees("SET", "(") and cursor.accept("SET")):
        return SetProperties(properties(cursor))
    if cursor.accept("UNSET", "TBLPROPERTIES"):
        if_exists = cursor.accept_if_exists()
        return UnsetProperties(property_keys(cursor), if_exists)
    return SetTableComment(cursor.string()) if cursor.accept("SET", "COMMENT") else None


def property_keys(cursor: Cursor) -> tuple[str, ...]:
    """``('a', b.c)``."""
    cursor.expect("(")
    keys = [property_key(cursor)]
    while cursor.accept(","):
        keys.append(property_key(cursor))
    cursor.expect(")")
    return tuple(keys)


def property_statement(cursor: Cursor, name: TableName, action: TableAction, *, is_view: bool) -> Statement | None:
    """The statement of one action of properties, which views have, too; None for another action."""
    if isinstance(action, SetProperties):
        return SetTableProperties(sql=cursor.text, table=name, properties=action.properties, is_view=is_view)
    if isinstance(action, UnsetProperties):
        return UnsetTableProperties(
            sql=cursor.text, table=name, keys=action.keys, if_exists=action.if_exists, is_view=is_view
        )
    if isinstance(action, SetTableComment):
        kind = "VIEW" if is_view else "TABLE"
        return CommentOn(sql=cursor.text, kind=kind, table=name, comment=action.comment)
    return None


def _statement(cursor: Cursor, table: TableName, actions: list[TableAction]) -> Statement:
    """The statement of some actions. A comment alone may be one of a view's column."""
    alone = actions[0]
    found = property_statement(cursor, table, alone, is_view=False) if len(actions) == 1 else None
    if found is not None:
        return found
    if isinstance(alone, AlterColumn) and actions == [AlterColumn(alone.column, comment=alone.comment)]:
        column = ".".join(alone.column)
        return CommentOn(sql=cursor.text, kind="COLUMN", table=table, column=column, comment=alone.comment)
    return AlterColumns(sql=cursor.text, table=table, actions=tuple(actions))


def _verb(cursor: Cursor) -> str | None:
    """Consumes the verb of an action; None when none begins here."""
    for words in (("REPLACE", "COLUMNS"), ("ADD", "PARTITION", "FIELD"), ("DROP", "PARTITION", "FIELD")):
        if cursor.accept(*words):
            return words[0] if len(words) == 2 else f"{words[0]} PARTITION FIELD"
    verb, follows = cursor.key, cursor.key_at(1)
    if verb not in _VERBS:
        return None
    bare = follows == "(" and verb in ("ADD", "DROP")
    named = cursor.tokens[cursor.i + 1].is_name and follows not in _NO_COLUMNS
    if not (follows in _COLUMN or bare or named):
        return None
    cursor.i += 1
    if follows in _COLUMN and (cursor.tokens[cursor.i + 1].is_name or cursor.key_at(1) == "("):
        cursor.i += 1
    return verb


def _actions(cursor: Cursor, verb: str) -> list[ColumnAction] | None:
    """The items of one verb; None for a change that tables do not have."""
    if verb == "REPLACE":
        return [_replace(cursor)]
    if verb == "RENAME":
        return [_rename(cursor)]
    if verb.endswith("PARTITION FIELD"):
        kind = AddPartitionField if verb.startswith("ADD") else DropPartitionField
        return [kind(cursor.name("a column name"))]
    if verb == "ADD":
        if_not_exists = cursor.accept_if_not_exists()
        return [_add(cursor, if_not_exists) for _ in _items(cursor, verb)]
    if verb == "DROP":
        if_exists = cursor.accept_if_exists()
        return [DropColumn(cursor.dotted("a column name"), if_exists) for _ in _items(cursor, verb)]
    altered: list[ColumnAction] = []
    for _ in _items(cursor, verb):
        found = _alter(cursor)
        if found is None:
            return None
        altered += found
    return altered


def _items(cursor: Cursor, verb: str) -> Iterator[None]:
    """Moves the cursor to each item of a list, which may be in parentheses, or have the verb repeated."""
    in_parentheses = cursor.accept("(")
    yield
    while cursor.key == "," and (in_parentheses or not _another(cursor, verb)):
        cursor.i += 1
        if not in_parentheses and _repeats(cursor, verb):
            cursor.i += 2 if cursor.key_at(1) in _COLUMN else 1
        yield
    if in_parentheses:
        cursor.expect(")")


def _another(cursor: Cursor, verb: str) -> bool:
    """Whether an action of another verb follows the comma here."""
    follows = cursor.key_at(1)
    if cursor.key_at(2) == "TBLPROPERTIES" or (follows == "SET" and cursor.key_at(2) in ("(", "COMMENT")):
        return follows in ("SET", "UNSET")
    return follows in _VERBS and ((follows != verb and cursor.key_at(2) in _COLUMN) or _partition_field(cursor))


def _partition_field(cursor: Cursor) -> bool:
    """Whether ``ADD`` or ``DROP PARTITION FIELD`` follows the comma here."""
    return cursor.key_at(2) == "PARTITION" and cursor.key_at(3) == "FIELD"


def _repeats(cursor: Cursor, verb: str) -> bool:
    """Whether the verb is repeated, as in ``ADD COLUMN a int, ADD COLUMN b int``, so it is no column name."""
    names_column = cursor.key_at(2) in AFTER_TYPE
    return cursor.key == verb and cursor.tokens[cursor.i + 1].is_name and not names_column


def _add(cursor: Cursor, if_not_exists: bool) -> ColumnAction:
    parent: tuple[str, ...] = ()
    while cursor.key_at(1) == ".":
        parent = (*parent, cursor.name("a column name"))
        cursor.expect(".")
    column = None if parent else computed_column(cursor, movable=True)
    return AddColumn(column or _definition(cursor, _OF_FIELD if parent else _OF_ADDED), parent, if_not_exists)


def _definition(cursor: Cursor, refused: Refused) -> ColumnDefinition:
    definition, _ = column_definition(cursor, refused)
    return definition


def _rename(cursor: Cursor) -> ColumnAction:
    column = cursor.dotted("a column name")
    cursor.expect("TO")
    new = cursor.name("a column name")
    if cursor.key == ".":
        raise cursor.error("RENAME moves no column", kind=SqlError, hint="Write the new name alone.")
    return RenameColumn(column, new)


def _replace(cursor: Cursor) -> ColumnAction:
    cursor.expect("(")
    columns = [_definition(cursor, _OF_REPLACED)]
    while cursor.accept(","):
        columns.append(_definition(cursor, _OF_REPLACED))
    cursor.expect(")")
    return ReplaceColumns(tuple(columns))


def _alter(cursor: Cursor) -> list[ColumnAction] | None:
    """``c TYPE bigint``, COMMENT, FIRST, AFTER, SET or DROP NOT NULL; or a definition, of a new name with CHANGE."""
    column = cursor.dotted("a column name")
    if cursor.accept("COMMENT"):
        return [AlterColumn(column, comment=cursor.string())]
    if cursor.accept("TYPE") or cursor.accept("SET", "DATA", "TYPE"):
        return [AlterColumn(column, type_sql=column_type(cursor, ".".join(column)))]
    if cursor.accept("FIRST"):
        return [AlterColumn(column, first=True)]
    if cursor.accept("AFTER"):
        return [AlterColumn(column, after=cursor.name("a column name"))]
    if cursor.accept("SET", "DEFAULT"):
        return [SetDefault(column, cursor.until(",", what="a value"))]
    if cursor.accept("DROP", "DEFAULT"):
        return [SetDefault(column)]
    for word, nullable in (("SET", False), ("DROP", True)):
        if cursor.accept(word, "NOT", "NULL"):
            return [AlterColumn(column, nullable=nullable)]
    return _defined(cursor, column) if cursor.token.is_name and cursor.key not in ("SET", "DROP") else None


def _defined(cursor: Cursor, column: tuple[str, ...]) -> list[ColumnAction]:
    """``new_name type …`` after CHANGE, or ``type …`` after MODIFY, as CREATE TABLE writes it."""
    renamed = cursor.tokens[cursor.i + 1].is_name and cursor.key_at(1) not in AFTER_TYPE
    if not renamed:
        cursor.i -= 1  # the definition begins with the name of the column
    definition = _definition(cursor, _OF_CHANGED)
    altered = AlterColumn(
        column,
        definition.type_sql,
        None if definition.nullable else False,
        definition.comment,
        definition.first,
        definition.after,
    )
    if not renamed or definition.name == column[-1]:
        return [altered]
    return [altered, RenameColumn(column, definition.name)]
