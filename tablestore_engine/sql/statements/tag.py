"""Statements on the tags of a table, which Paimon's SQL has in addition to its procedures."""

from __future__ import annotations

from dataclasses import dataclass

from tablestore_engine.sql.statements.statement import Existing, Statement, TableName


@dataclass(frozen=True, kw_only=True)
class CreateTag(Statement):
    """ALTER TABLE … CREATE TAG and REPLACE TAG. An existing tag that is replaced gets another snapshot;
    ``snapshot_id`` is None for the latest, ``retained`` a text such as ``7 days``."""

    table: TableName
    tag: str
    snapshot_id: int | None = None
    retained: str | None = None
    existing: Existing = Existing.REFUSED


@dataclass(frozen=True, kw_only=True)
class DeleteTag(Statement):
    """ALTER TABLE … DELETE TAG; ``tag`` may be several names, separated by commas."""

    table: TableName
    tag: str
    if_exists: bool = False


@dataclass(frozen=True, kw_only=True)
class RenameTag(Statement):
    table: TableName
    tag: str
    new: str


@dataclass(frozen=True, kw_only=True)
class ShowTags(Statement):
    table: TableName
