"""The constraints of an enforced contract that its table keeps, so that every writer is held to them: NOT NULL, CHECK.

Invariant: of the constraints that a table has, only those are dropped that it remembers as its model's (`dbt.options`)
and that the model no longer names; those that others added stay. A primary key is part of the table's layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dbt.adapters.tablestore.config.contracts import check_of, constraints_of, is_kept
from dbt.adapters.tablestore.config.option_changes import DBT_OPTIONS, remembered, remembered_by
from tablestore_engine.schema.table.check_constraints import (
    PREFIX,
    CheckConstraint,
    check_constraints,
    check_options,
    find_check,
)
from tablestore_engine.schema.table.schema_changes import (
    AddCheckConstraint,
    RemoveOption,
    SchemaChange,
    SetNullability,
    SetOption,
)
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.sql_literals import quoted_name

_NOT_NULL = "not-null"
"""How a table remembers the columns that its model makes NOT NULL, next to the options."""


@dataclass(frozen=True)
class TableConstraints:
    """The columns that are NOT NULL, and the CHECK constraints."""

    not_null: tuple[str, ...] = ()
    checks: tuple[CheckConstraint, ...] = ()

    @classmethod
    def of(cls, model: Mapping[str, Any]) -> TableConstraints:
        """The constraints of a model whose contract is enforced; none of any other one."""
        if not is_kept(model):
            return cls()
        columns = [str(one["name"]) for one in (model.get("columns") or {}).values()]
        not_null: dict[str, None] = {}
        checks: dict[str, str] = {}
        for kind, names, constraint in constraints_of(model):
            if kind == "not_null":
                not_null |= dict.fromkeys(names)
            elif kind == "check" and constraint.get("expression"):
                checks |= check_options([check_of(constraint, columns, checks)])
        found = (CheckConstraint(key.removeprefix(PREFIX), text) for key, text in checks.items())
        return cls(tuple(not_null), tuple(found))

    @property
    def remembered(self) -> dict[str, str]:
        """The entries by which the table remembers them."""
        columns = ",".join(sorted(one.lower() for one in self.not_null))
        return {**check_options(self.checks), **({_NOT_NULL: columns} if columns else {})}

    def of_new_table(self, schema: TableSchema, options: Mapping[str, str]) -> list[SchemaChange]:
        """The changes that give a new table, whose model sets these options, its constraints, which it remembers."""
        if not self.remembered:
            return []
        checks = [AddCheckConstraint(one.name, one.sql, 0, schema.id) for one in self.checks]
        memory = SetOption(DBT_OPTIONS, remembered({**options, **self.remembered}))
        return [*self._strict(schema), *checks, memory]

    def _strict(self, schema: TableSchema) -> Iterator[SetNullability]:
        for name in self.not_null:
            if schema.has_field(name) and schema.field(name).type.nullable:
                yield SetNullability(schema.field(name).name, nullable=False)

    def changes(self, schema: TableSchema) -> ConstraintChanges:
        """How the constraints of an existing table change, whose columns are those of the model already."""
        known = remembered_by(schema.options)
        named = {one.lower() for one in self.not_null}
        loose = [
            SetNullability(schema.field(name).name, nullable=True)
            for name in known.get(_NOT_NULL, "").split(",")
            if name and name not in named and schema.has_field(name) and _may_be_null(schema, name)
        ]
        wanted = check_options(self.checks)
        dropped = [
            RemoveOption(key)
            for key, text in known.items()
            if key.startswith(PREFIX) and schema.options.get(key) == text and wanted.get(key) != text
        ]
        new = tuple(one for one in self.checks if not _has(schema, one, {one.key for one in dropped}))
        return ConstraintChanges((*loose, *dropped), tuple(self._strict(schema)), new)


@dataclass(frozen=True)
class ConstraintChanges:
    """Changes that drop constraints, made before the columns of a table change, and constraints for which its rows are
    checked afterwards."""

    dropped: tuple[SetNullability | RemoveOption, ...] = ()
    strict: tuple[SetNullability, ...] = ()
    checks: tuple[CheckConstraint, ...] = ()


NO_CONSTRAINTS = TableConstraints()


def constraint_clauses(schema: TableSchema) -> list[str]:
    """The columns and constraints as CREATE TABLE … AS lists them, for a copy of a table; empty when it has none."""
    strict = {one.name for one in schema.fields if not one.type.nullable} - set(schema.primary_keys)
    columns = [f"{quoted_name(f.name)}{' not null' if f.name in strict else ''}" for f in schema.fields]
    checks = [f"constraint {quoted_name(one.name)} check ({one.sql})" for one in check_constraints(schema.options)]
    return [*(columns if strict else []), *checks]


def _has(schema: TableSchema, check: CheckConstraint, dropped: set[str]) -> bool:
    found = find_check(schema.options, check.name)
    return found is not None and found.sql == check.sql and found.key not in dropped


def _may_be_null(schema: TableSchema, name: str) -> bool:
    column = schema.field(name)
    return not column.type.nullable and column.name not in schema.primary_keys
