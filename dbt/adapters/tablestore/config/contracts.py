"""Enforced contracts: constraints are checked while the table is written, so a bad row leaves the old table as it was.

A NOT NULL column fails at its first null, a CHECK at the first row for which it is false. Both are expressions that
Spark evaluates during the write. A primary key constraint becomes the table's primary key; `table_constraints` says
which others the table keeps, for other writers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tablestore_engine.schema.types.sql_literals import quoted_name, quoted_text


def select_list(model: Mapping[str, Any]) -> list[str]:
    """The columns of the contract as select items, each with its checks."""
    items = []
    for column in model["columns"].values():
        name = quoted_name(str(column["name"]))
        value = name
        for constraint in column.get("constraints") or ():
            value = _checked(value, name, column["name"], constraint)
        items.append(value if value == name else f"{value} as {name}")
    first = next(iter(model["columns"].values()), None)
    if first is not None:
        for constraint in model.get("constraints") or ():
            if _type_of(constraint) == "not_null":
                continue
            name = quoted_name(str(first["name"]))
            value = _checked(items[0].rsplit(" as ", 1)[0], name, constraint.get("name") or "", constraint)
            items[0] = value if value == name else f"{value} as {name}"
    return items


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


def _checked(value: str, name: str, label: str, constraint: Mapping[str, Any]) -> str:
    kind = _type_of(constraint)
    if kind == "not_null":
        message = f'null value in column "{label}" violates not-null constraint'
        return f"coalesce({value}, raise_error({quoted_text(message)}))"
    if kind == "check" and constraint.get("expression"):
        named = f' "{constraint["name"]}"' if constraint.get("name") else ""
        message = f"a row violates check constraint{named}: {constraint['expression']}"
        return f"if(not ({constraint['expression']}), raise_error({quoted_text(message)}), {value})"
    return value


def _type_of(constraint: Mapping[str, Any]) -> str:
    kind = constraint.get("type")
    return str(getattr(kind, "value", kind))
