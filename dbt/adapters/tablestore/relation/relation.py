"""The names of tables and views in dbt.

Invariants: a relation has no database, so its name always renders as `` `schema`.`name` ``. Names are compared without
regard to case, as in the catalog.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, FrozenSet, Optional, TypeVar  # noqa: UP035 - mashumaro reads these at run time

from dbt.adapters.base.relation import BaseRelation, Policy
from dbt.adapters.contracts.relation import ComponentName, RelationType
from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.schema.types.sql_literals import quoted_name, unquoted_name

Self = TypeVar("Self", bound="TableStoreRelation")


@dataclass
class TableStoreQuotePolicy(Policy):
    """Which parts of a name are quoted."""

    database: bool = False
    schema: bool = True
    identifier: bool = True


@dataclass
class TableStoreIncludePolicy(Policy):
    """Which parts of a name are written."""

    database: bool = False
    schema: bool = True
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class TableStoreRelation(BaseRelation):
    """The name of a table or view, with its type if it is known."""

    quote_policy: Policy = field(default_factory=TableStoreQuotePolicy)
    include_policy: Policy = field(default_factory=TableStoreIncludePolicy)
    quote_character: str = "`"
    require_alias: bool = False
    source_id: Optional[str] = None  # noqa: UP045 - of a source: the unique id of its node
    renameable_relations: FrozenSet[str] = frozenset({RelationType.Table, RelationType.View})  # noqa: UP006
    replaceable_relations: FrozenSet[str] = frozenset({RelationType.Table, RelationType.View})  # noqa: UP006

    def __post_init__(self) -> None:
        database = self.path.database
        if not database or database == "None":
            return
        if database != self.path.schema:
            raise DbtRuntimeError(
                f"'{database}.{self.path.schema}' has a database, but tables have only a schema here. "
                "Remove `database` from the model or source."
            )
        object.__setattr__(self, "path", self.path.replace(database=None))

    @classmethod
    def create(  # noqa: PYI019
        cls: type[Self],
        database: str | None = None,
        schema: str | None = None,
        identifier: Optional[str] = None,  # noqa: UP045
        type: Optional[RelationType] = None,  # noqa: UP045
        **kwargs: Any,
    ) -> Self:
        """See `BaseRelation.create`. Packages pass `target.database`, which is empty or undefined for this adapter."""
        known = database if isinstance(database, str) and database else None
        return super().create(known, schema, identifier, type, **kwargs)  # type: ignore[misc,no-any-return]

    @classmethod
    def create_from(cls: type[Self], quoting: Any, relation_config: Any, **kwargs: Any) -> Self:  # noqa: PYI019
        """See `BaseRelation.create_from`. Several sources may have one schema and identifier.

        Raises DbtRuntimeError when the node has a database, unless the profile says `ignore_database: true`. Then the
        node itself loses it, so that dbt finds it in the catalog of `dbt docs`, too.
        """
        if relation_config.database and relation_config.database != relation_config.schema:
            if not getattr(getattr(quoting, "credentials", None), "ignore_database", False):
                raise DbtRuntimeError(_database_message(relation_config))
            relation_config.database = None
        node = str(getattr(relation_config, "unique_id", ""))
        more = {"source_id": node} if node.startswith("source.") else {}
        return super().create_from(quoting, relation_config, **more, **kwargs)  # type: ignore[misc,no-any-return]

    @property
    def is_session_name(self) -> bool:
        """Whether the name has no schema: it means a temporary view or another object of the session."""
        return self.schema is None or not self.include_policy.schema

    def quoted(self, identifier: Any) -> str:
        return quoted_name(str(identifier))

    def matches(
        self,
        database: str | None = None,
        schema: str | None = None,
        identifier: Optional[str] = None,  # noqa: UP045
    ) -> bool:
        """Whether the given parts of a name are those of this relation, without regard to case and quotes."""
        if schema is None and identifier is None:
            raise DbtRuntimeError("Tried to match relation, but no search path was passed!")
        wanted = {ComponentName.Schema: schema, ComponentName.Identifier: identifier}
        return all(
            _bare(self.path.get_part(part)) == _bare(value) for part, value in wanted.items() if value is not None
        )


def _database_message(node: Any) -> str:
    file = getattr(node, "original_file_path", None)
    of = f" of {getattr(node, 'unique_id', None) or node.identifier}{f' ({file})' if file else ''}"
    return (
        f"The database '{node.database}'{of} is unknown: tables have only a schema here. Remove `database`, or set "
        "`ignore_database: true` in the profile, if the project was written for a warehouse that has databases."
    )


def _bare(name: str | None) -> str | None:
    return unquoted_name(name).lower() if name is not None else None


def schema_of(relation: BaseRelation) -> str:
    """The schema of a relation. Raises DbtRuntimeError when it has none."""
    if not relation.schema:
        raise DbtRuntimeError(f"'{relation.render()}' has no schema.")
    return str(relation.schema)
