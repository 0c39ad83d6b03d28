"""CREATE, REPLACE, RENAME, DELETE and SHOW TAGS."""

from __future__ import annotations

from tablestore_engine.errors import SqlError, TagAlreadyExists
from tablestore_engine.operation.history.tags import replace_tag
from tablestore_engine.options import parse_duration
from tablestore_engine.sql.catalog.execute_context import CatalogContext, answer, done
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.statement import Existing
from tablestore_engine.sql.statements.tag import CreateTag, DeleteTag, RenameTag, ShowTags


def create_tag(statement: CreateTag, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … CREATE [OR REPLACE] TAG and REPLACE TAG, which keep a snapshot when they name none.

    Raises:
        SnapshotNotFound, TagAlreadyExists, TagNotFound
    """
    table = context.table(statement.table, "ALTER TABLE")
    try:
        retained = None if statement.retained is None else parse_duration(statement.retained)
    except ValueError as error:
        raise SqlError(f"A tag cannot be retained for {statement.retained}: {error}.") from None
    existing, there = statement.existing, statement.tag in table.tags.names()
    if there and existing is Existing.KEPT:
        return done("CREATE TAG")
    if existing is Existing.REQUIRED or (existing is Existing.REPLACED and there):
        named = table.tags.load(statement.tag) if existing is Existing.REQUIRED else table.latest_snapshot()
        snapshot = named if statement.snapshot_id is None else table.snapshot(statement.snapshot_id)
        assert snapshot is not None  # there is a tag, so there is a snapshot
        replace_tag(table.state, statement.tag, snapshot, table.tag_lifetime(retained))
        return done("REPLACE TAG")
    try:
        table.create_tag(statement.tag, statement.snapshot_id, retained)
    except TagAlreadyExists:
        if existing is not Existing.KEPT:
            raise
    return done("CREATE TAG")


def delete_tag(statement: DeleteTag, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … DELETE TAG; a text with commas names several. Raises TagNotFound unless IF EXISTS."""
    table = context.table(statement.table, "ALTER TABLE")
    known = table.tags.names()
    names = [statement.tag] if statement.tag in known else [one.strip() for one in statement.tag.split(",")]
    if statement.if_exists:
        names = [name for name in names if name in known]
    for name in names:
        table.tags.load(name)
    for name in names:
        table.delete_tag(name)
    return done("DELETE TAG")


def rename_tag(statement: RenameTag, context: CatalogContext) -> StatementResult:
    """ALTER TABLE … RENAME TAG. Raises TagNotFound, TagAlreadyExists."""
    context.table(statement.table, "ALTER TABLE").tags.rename(statement.tag, statement.new)
    return done("RENAME TAG")


def show_tags(statement: ShowTags, context: CatalogContext) -> StatementResult:
    """SHOW TAGS; the system table `t$tags` has more columns."""
    names = context.table(statement.table, "SHOW TAGS").tags.names()
    return answer("SHOW TAGS", {"tag": "string"}, [(name,) for name in names])
