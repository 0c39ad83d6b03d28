"""CREATE, DROP, DESCRIBE, SHOW and COMMENT ON of schemas.

A schema's comment and properties are kept in the hidden file `.schema.json` of its directory; without one it has
neither. Listings never show the file, and dropping the schema drops it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tablestore_engine.catalog import DEFAULT_DATABASE, Catalog
from tablestore_engine.errors import DependencyError, SqlError
from tablestore_engine.sql.catalog.execute_context import CatalogContext, answer, done
from tablestore_engine.sql.catalog.left_views import warn_of_views
from tablestore_engine.sql.result import StatementResult
from tablestore_engine.sql.statements.schema import (
    AlterSchema,
    CreateSchema,
    DescribeSchema,
    DropSchema,
    ShowSchemas,
)
from tablestore_engine.sql.tokens.patterns import matching
from tablestore_engine.storage.metadata_files.record_file import read_record
from tablestore_engine.storage.paths import is_hidden

_FILE = ".schema.json"


@dataclass(frozen=True)
class SchemaNotes:
    """The comment and properties of a schema."""

    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


def load_notes(catalog: Catalog, database: str) -> SchemaNotes:
    """The comment and properties of a schema. Raises DatabaseNotFound, CorruptMetadataError."""
    return read_record(catalog.io, _path(catalog, database), _notes_of) or SchemaNotes()


def _notes_of(text: bytes) -> SchemaNotes:
    data = json.loads(text)
    return SchemaNotes(data.get("comment"), dict(data["properties"]))


def _save_notes(catalog: Catalog, database: str, notes: SchemaNotes) -> None:
    data = {"version": 1, "comment": notes.comment, "properties": dict(notes.properties)}
    text = json.dumps(data, indent=2, ensure_ascii=False)
    catalog.io.write(_path(catalog, database), text.encode())


def _path(catalog: Catalog, database: str) -> str:
    return f"{catalog.paths.database_dir(catalog.require_database(database))}/{_FILE}"


def create_schema(statement: CreateSchema, context: CatalogContext) -> StatementResult:
    """CREATE SCHEMA."""
    catalog = context.catalog
    existed = catalog.database_exists(statement.database)
    catalog.create_database(statement.database, statement.if_not_exists)
    if not existed and (statement.comment is not None or statement.properties):
        properties = dict(statement.properties)
        _save_notes(catalog, statement.database, SchemaNotes(statement.comment, properties))
    return done("CREATE SCHEMA")


def alter_schema(statement: AlterSchema, context: CatalogContext) -> StatementResult:
    """ALTER SCHEMA … SET or UNSET DBPROPERTIES; the property `comment` is the schema's comment."""
    notes = load_notes(context.catalog, statement.database)
    properties = {**notes.properties, **statement.properties}
    comment = properties.pop("comment", None if "comment" in statement.removed else notes.comment)
    properties = {key: value for key, value in properties.items() if key not in statement.removed}
    _save_notes(context.catalog, statement.database, SchemaNotes(comment, properties))
    return done("ALTER SCHEMA")


def drop_schema(statement: DropSchema, context: CatalogContext) -> StatementResult:
    """DROP SCHEMA; without CASCADE only an empty one. A warning names the views of other schemas that read it."""
    if statement.database.lower() == DEFAULT_DATABASE:
        raise SqlError(f"The schema '{DEFAULT_DATABASE}' always exists, so it cannot be dropped.")
    if not statement.cascade and context.catalog.database_exists(statement.database):
        _refuse_strangers(context.catalog, statement.database)
    inside = _content(context.catalog, statement.database) if statement.cascade else []
    context.catalog.drop_database(statement.database, statement.cascade, statement.if_exists)
    warn_of_views(f"Schema {statement.database} is dropped; these views read what was in it", inside, context)
    return done("DROP SCHEMA")


def _content(catalog: Catalog, database: str) -> list[tuple[str, str]]:
    """The tables and views of a schema; none of one that does not exist."""
    if not catalog.database_exists(database):
        return []
    return [(database, name) for name in (*catalog.list_tables(database), *catalog.list_views(database))]


def _refuse_strangers(catalog: Catalog, database: str) -> None:
    """Refuse to drop directories that are not tables, because no listing shows them."""
    directory = catalog.paths.database_dir(catalog.require_database(database))
    ours = set(catalog.list_tables(database))
    strangers = [one.name for one in catalog.io.list(directory) if not is_hidden(one.name) and one.name not in ours]
    if strangers:
        raise DependencyError(
            f"Schema '{database}' is not empty: {directory} holds {', '.join(strangers[:10])}, which "
            "another program made.",
            hint="Move it away first, or use DROP SCHEMA … CASCADE.",
        )


def show_schemas(statement: ShowSchemas, context: CatalogContext) -> StatementResult:
    """SHOW SCHEMAS."""
    names = matching(context.catalog.list_databases(), statement.like)
    if statement.parent is not None:
        context.catalog.require_database(statement.parent)
        names = []
    return answer("SHOW SCHEMAS", {"namespace": "string"}, [(name,) for name in names])


def describe_schema(statement: DescribeSchema, context: CatalogContext) -> StatementResult:
    """DESCRIBE SCHEMA [EXTENDED]."""
    name = context.catalog.require_database(statement.database)
    notes = load_notes(context.catalog, name)
    rows = [
        ("Namespace Name", name),
        ("Comment", notes.comment or ""),
        ("Location", context.catalog.paths.database_dir(name)),
    ]
    if statement.extended:
        pairs = ", ".join(f"({key},{value})" for key, value in sorted(notes.properties.items()))
        rows += [
            ("Properties", f"({pairs})" if pairs else ""),
            ("Tables", str(len(context.catalog.list_tables(name)))),
            ("Views", str(len(context.catalog.list_views(name)))),
        ]
    return answer("DESCRIBE SCHEMA", {"info_name": "string", "info_value": "string"}, rows)


def comment_schema(database: str, comment: str | None, context: CatalogContext) -> StatementResult:
    """COMMENT ON SCHEMA."""
    notes = load_notes(context.catalog, database)
    _save_notes(context.catalog, database, replace(notes, comment=comment))
    return done("COMMENT")
