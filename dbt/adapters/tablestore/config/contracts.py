"""Enforced contracts: constraints are checked while the table is written, so a bad row leaves the old table as it was.

A NOT NULL column fails at its first null, a CHECK at the first row for which it is false, a text with a length at the
first one that is longer. All are expressions that Spark evaluates during the write. A primary key constraint becomes
the table's primary key; `table_constraints` says which others the table keeps, for other writers, and `text_types`
which types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dbt.adapters.tablestore.config.text_types import TextTypes, cast_to, too_long
from tablestore_engine.schema.table.check_constraints import (
    CheckConstraint,
    check_options,
    null_violation_sql,
    unnamed_check,
    violation_sql,
)
from tablestore_engine.schema.types.sql_literals import literal, quoted_name, spark_type

_BUILDS = ("table", "incremental", "materialized_view", "seed")
_SHOWN = 100  # characters of a value in a message


def select_list(model: Mapping[str, Any], types: TextTypes) -> list[str]:
    """The columns of the contract as select items, each with its checks."""
    columns, own = own_columns(model["columns"]), names(model)
    known: dict[str, str] = {}
    values = [_of_length(name, types) for name in own]
    for at, column in enumerate(columns.values()):
        for constraint in column.get("constraints") or ():
            values[at] = _checked(values[at], own[at], constraint, own, known)
    for constraint in (model.get("constraints") or ()) if values else ():
        if _type_of(constraint) != "not_null":
            values[0] = _checked(values[0], own[0], constraint, own, known)
    quoted = (quoted_name(name) for name in own)
    return [name if value == name else f"{value} as {name}" for value, name in zip(values, quoted, strict=True)]


def own_columns(columns: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The columns of a model, by name, without fields of structs: `s.x` next to a column `s` is there to be documented
    or renamed."""
    known = {str(column["name"]).lower() for column in columns.values()}
    return {
        key: column
        for key, column in columns.items()
        if column.get("quote") or str(column["name"]).partition(".")[0].lower() not in known - {key.lower()}
    }


def check_of(constraint: Mapping[str, Any], columns: Iterable[str], known: Mapping[str, str]) -> CheckConstraint:
    """A CHECK constraint as the table has it. `known` are the options that hold those before it."""
    named = CheckConstraint(str(constraint.get("name") or ""), str(constraint["expression"]))
    return named if named.name else unnamed_check(named.sql, columns, known)


def names(model: Mapping[str, Any]) -> list[str]:
    """The names of a model's own columns, in order."""
    return [str(column["name"]) for column in own_columns(model.get("columns") or {}).values()]


def is_kept(model: Mapping[str, Any]) -> bool:
    """Whether a node makes a table that keeps its contract."""
    return (model.get("config") or {}).get("materialized") in _BUILDS and is_enforced(model)


def is_enforced(model: Mapping[str, Any]) -> bool:
    """Whether the contract of a model is enforced."""
    contract = (model.get("config") or {}).get("contract") or {}
    return bool(contract.get("enforced") if isinstance(contract, Mapping) else contract.enforced)


def constraints_of(model: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, Any]]]:
    """The constraints of the columns, then those of the model, each with its type and the columns that it names."""
    for name, constraint in _column_constraints(model):
        yield _type_of(constraint), (name,), constraint
    for constraint in model.get("constraints") or ():
        yield _type_of(constraint), tuple(constraint.get("columns") or ()), constraint


def primary_key(model: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of the contract's primary key constraint; empty when there is none."""
    for constraint in model.get("constraints") or ():
        if _type_of(constraint) == "primary_key":
            return tuple(constraint.get("columns") or ())
    return tuple(name for name, constraint in _column_constraints(model) if _type_of(constraint) == "primary_key")


def _column_constraints(model: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for column in (model.get("columns") or {}).values():
        for constraint in column.get("constraints") or ():
            yield str(column["name"]), constraint


def _checked(
    value: str, name: str, constraint: Mapping[str, Any], columns: Sequence[str], known: dict[str, str]
) -> str:
    kind = _type_of(constraint)
    if kind == "not_null":
        return f"coalesce({value}, raise_error({null_violation_sql(name, columns)}))"
    if kind == "check" and constraint.get("expression"):
        check = check_of(constraint, columns, known)
        known |= check_options([check])
        return f"if(not ({check.sql}), raise_error({violation_sql(check, columns)}), {value})"
    return value


def _of_length(name: str, types: TextTypes) -> str:
    """A column, whose texts fail where they are longer than its type, and whose numbers are of its type."""
    value, kind = quoted_name(name), types.get(name.lower())
    longer = "" if kind is None else too_long(value, kind)
    if kind is None or not longer:
        return value if kind is None else cast_to(value, kind)
    before = f"Column {name} has the type {spark_type(kind)} in the contract, and a row has a longer text: "
    after = ". Nothing was written. Cut it in the query, or declare a longer text."
    shown = f"left(cast({value} as string), {_SHOWN})"
    failed = f"raise_error(concat({literal(before)}, {shown}, {literal(after)}))"
    return f"if({longer}, {failed}, {value})"


def _type_of(constraint: Mapping[str, Any]) -> str:
    kind = constraint.get("type")
    return str(getattr(kind, "value", kind))
