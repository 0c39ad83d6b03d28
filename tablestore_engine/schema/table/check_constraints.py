"""CHECK constraints: conditions that are false for no row of a table.

They are options of the table, `constraint.check.<name>` = condition: other engines ignore them, and every ALTER keeps
them. Spark evaluates the conditions on the rows of each write; in writes without Spark, Arrow does, where it gives the
same answer. As in SQL, a row for which a condition is null is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from tablestore_engine.errors import OptionError, SchemaError
from tablestore_engine.schema.types.named_columns import named_columns
from tablestore_engine.schema.types.sql_literals import literal, quoted_name

PREFIX: Final = "constraint.check."
VIOLATED: Final = "A row violates the CHECK constraint "
NULL_VIOLATED: Final = "A row violates the NOT NULL constraint of column "
VIOLATED_HINT: Final = (
    "Nothing was written. Change such rows or leave them out, or ALTER TABLE … DROP CONSTRAINT its name."
)

NULL_VIOLATED_HINT: Final = "Nothing was written. Give such rows a value, or leave them out."
_SHOWN = 100  # characters of a value in a message
_SHOWN_COLUMNS = 5  # besides the one that is null


@dataclass(frozen=True)
class CheckConstraint:
    """CONSTRAINT name CHECK (condition)."""

    name: str
    sql: str

    @property
    def key(self) -> str:
        """The option that keeps the constraint."""
        return f"{PREFIX}{self.name}"

    @property
    def shown(self) -> str:
        """The constraint in a message, on one line."""
        return f"{self.name} ({' '.join(self.sql.split())})"

    def columns(self, names: Iterable[str]) -> list[str]:
        """Those of the table's columns that the condition names."""
        return named_columns(self.sql, names)


def violation_sql(check: CheckConstraint, columns: Iterable[str]) -> str:
    """SQL of the message about a row that violates a constraint, with the values that its condition reads."""
    return _with_values(f"{VIOLATED}{check.shown}", check.columns(columns))


def null_violation_sql(column: str, columns: Iterable[str]) -> str:
    """SQL of the message about a row that is null in a NOT NULL column, with some of its values."""
    others = [one for one in columns if one != column]
    return _with_values(f"{NULL_VIOLATED}{column}", [column, *others[:_SHOWN_COLUMNS]])


def _with_values(what: str, names: Iterable[str]) -> str:
    parts = [literal(f"{what}:")]
    for name in names:
        value = f"coalesce(left(CAST({quoted_name(name)} AS STRING), {_SHOWN}), 'NULL')"
        parts += [literal(f"{' ' if len(parts) == 1 else ', '}{name} = "), value]
    return f"concat({', '.join([*parts, literal('.')])})"


def check_constraints(options: Mapping[str, str]) -> tuple[CheckConstraint, ...]:
    """The constraints of a table's options, by name."""
    found = (CheckConstraint(key[len(PREFIX) :], sql) for key, sql in options.items() if key.startswith(PREFIX))
    return tuple(sorted(found, key=lambda one: one.name))


def find_check(options: Mapping[str, str], name: str) -> CheckConstraint | None:
    """The constraint of a name, in any case."""
    return next((one for one in check_constraints(options) if one.name.lower() == name.lower()), None)


def check_options(checks: Iterable[CheckConstraint]) -> dict[str, str]:
    """The options that keep constraints."""
    return {one.key: one.sql for one in checks}


def without_checks(options: Mapping[str, str]) -> dict[str, str]:
    """The options without those of constraints."""
    return {key: value for key, value in options.items() if not key.startswith(PREFIX)}


def with_check(options: Mapping[str, str], check: CheckConstraint) -> dict[str, str]:
    """The options with one constraint more. Raises SchemaError when there is one of its name."""
    found = find_check(options, check.name)
    if found is not None:
        raise SchemaError(
            f"The table has a CHECK constraint {found.shown} already.",
            hint="Choose another name, or drop that one: ALTER TABLE … DROP CONSTRAINT.",
        )
    return {**options, **check_options([check])}


def unnamed_check(condition_sql: str, columns: Iterable[str], known: Mapping[str, str]) -> CheckConstraint:
    """A constraint under a name that is made for it: of its first column, or else of none. `known` are the options
    that hold other constraints."""
    read = CheckConstraint("", condition_sql).columns(columns)
    base = f"{read[0]}_check" if read else "check"
    names = (base if number == 1 else f"{base}{number}" for number in count(1))
    return CheckConstraint(next(one for one in names if find_check(known, one) is None), condition_sql)


def refuse_unchecked(key: str) -> None:
    """Raise an OptionError for a constraint that is set as an option, on rows that nobody checked."""
    if key.startswith(PREFIX):
        raise OptionError(
            f"'{key}' is a CHECK constraint, which is not set as an option: rows that exist may violate it.",
            hint="Use ALTER TABLE … ADD CONSTRAINT name CHECK (condition), which checks them.",
        )
