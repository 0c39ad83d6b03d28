"""The functions of the merge engines as Spark aggregates, for reads of several runs.

Each expression folds the values of one column over the records of a key. Records are distinguished and ordered by their
sequence number, which occurs once per key and run; where users say how records are ordered, by their columns first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from tablestore_engine.errors import ExecutionError
from tablestore_engine.schema.merge_engines.aggregate_functions import RetractRule, is_wide
from tablestore_engine.schema.merge_engines.merge_engine import Fold
from tablestore_engine.schema.types.system_columns import SEQUENCE_NUMBER, VALUE_KIND
from tablestore_engine.schema.types.types import DataField
from tablestore_engine.spark.expressions.format_braces import formatted, formatted_literal
from tablestore_engine.spark.expressions.spark_types import to_spark_type
from tablestore_engine.spark.folds.fold_in_order_sql import first_non_null_sql, in_order_sql, only_as_given
from tablestore_engine.spark.folds.nested_rows_sql import by_time_sql, keyed_sql, limited_sql, rows_sql
from tablestore_engine.spark.folds.session_folds import DECIMAL_PRODUCT, bitmap_union

_NUMBER = SEQUENCE_NUMBER.name


@dataclass(frozen=True)
class Records:
    """The records that are folded: rows of `alias`, with their system columns.

    `retractions` says that some may be; `sequence` are the columns that order them before their numbers do.
    `effects` names for a sequence group the column that orders its records by their effect (`late_records_sql`).
    `by` is SQL of what orders the records instead of their number.
    """

    alias: str
    retractions: bool = False
    sequence: tuple[str, ...] = ()
    descending: bool = False
    effects: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    by: str | None = None

    @property
    def number(self) -> str:
        """SQL of what orders the records; those for which it is null are left out."""
        return self.by or f"{self.alias}.{_NUMBER}"

    def of(self, fold: Fold) -> Records:
        """The records as they are ordered for a column."""
        return replace(self, by=f"{self.alias}.{self.effects[fold.sequence]}") if fold.puts_late_first else self

    @property
    def takes_back(self) -> str:
        """SQL of whether a record is a retraction."""
        return f"{self.alias}.{VALUE_KIND.name} IN (1Y, 3Y)"

    def column(self, name: str) -> str:
        """SQL of a column."""
        return f"{self.alias}.{formatted(name)}"

    def last(self, value: str) -> str:
        """SQL of the value of the last record, as an aggregate."""
        if not self.sequence:
            return f"max_by({value}, {self.number})"
        fields = [self.column(name) for name in self.sequence]
        # A struct compares field by field with nulls first. Descending, the smallest is the last (but never a null),
        # and of equals still the latest written.
        if self.descending:
            order = [part for field in fields for part in (f"{field} IS NULL", field)]
            return f"min_by({value}, struct({', '.join([*order, f'-{self.number}'])}))"
        return f"max_by({value}, struct({', '.join([*fields, self.number])}))"

    def has_one_of(self, columns: tuple[str, ...]) -> str:
        """SQL of whether a record has a value in one of some columns."""
        return " OR ".join(f"{self.column(name)} IS NOT NULL" for name in columns)

    def greatest(self, value: str, columns: tuple[str, ...]) -> str:
        """SQL of the value of the record that is greatest in some columns, of those that have one of them."""
        order = ", ".join([*(self.column(name) for name in columns), self.number])
        return f"max_by({value}, struct({order})) FILTER (WHERE {self.has_one_of(columns)})"


def fold_sql(fold: Fold, field: DataField, records: Records) -> str:
    """Spark SQL for the fold of a column, of the column's own type.

    A sum or product that does not fit raises as Spark's arithmetic does (an error, unless ANSI mode is off).
    """
    column = records.column(fold.column)
    if fold.sequence and not fold.picks_by_sequence:
        column = f"CASE WHEN {records.has_one_of(fold.sequence)} THEN {column} END"
    if records.retractions and fold.retract_rule is not RetractRule.KEEP:
        return _retracting(fold, field, records, column)
    if fold.picks_by_sequence:
        return records.greatest(column, fold.sequence)
    return _plain(fold, field, records, column)


def _plain(fold: Fold, field: DataField, records: Records, column: str) -> str:
    """The fold of records of which none is a retraction, or that are nulls."""
    if fold.puts_late_first:
        if fold.goes_singly:
            return in_order_sql(fold, field, column, records.number, "false", records.of(fold).number)
        records = records.of(fold)
        if fold.function == "first_non_null_value":
            return first_non_null_sql(column, records.number)
    if fold.function not in _CAST:
        return _EXPRESSIONS[fold.function](fold, column, records)
    kind = to_spark_type(field.type).simpleString()
    if fold.function == "product" and is_wide(field.type):
        texts = f"transform({_in_order(column, records, f'({column}) IS NOT NULL')}, one -> cast(one as string))"
        return f"cast({DECIMAL_PRODUCT}({texts}, {field.type.scale or 0}) as {kind})"
    if fold.function == "product":
        return f"cast({_product(column, records, kind)} as {kind})"
    return f"cast({_EXPRESSIONS[fold.function](fold, column, records)} as {kind})"


_CAST = ("sum", "count", "product")


def needs_session(fold: Fold, field: DataField) -> bool:
    """Whether the SQL of a fold calls functions of `session_folds`."""
    return fold.function in ("rbm32", "rbm64") or (fold.function == "product" and is_wide(field.type))


_THETA_SINCE = (4, 1)


def check_theta(fold: Fold, version: str) -> None:
    """Raise an ExecutionError where Spark of that version cannot unite Theta sketches."""
    major, minor = version.split(".")[:2]
    if (int(major), int(minor)) < _THETA_SINCE:
        raise ExecutionError(
            f"Column '{fold.column}' holds Theta sketches, which Spark {version} cannot unite.",
            hint="Spark 4.1 can. Rows that are compacted need no union; Table.to_arrow() reads without Spark.",
        )


def _retracting(fold: Fold, field: DataField, records: Records, column: str) -> str:
    """The fold of records of which some are retractions; see `mergetree.merge.retract`."""
    plain = replace(records, retractions=False)
    if fold.retract_rule is RetractRule.REFUSE:
        # Then a -D removes the row, and only ordinary records reach this function.
        return fold_sql(fold, field, plain)
    if fold.puts_late_first:
        return _retracting_late(fold, field, records, column)
    if fold.ignore_retract and fold.function == "last_value":
        return f"{_EXPRESSIONS[fold.function](fold, column, plain)} FILTER (WHERE NOT ({records.takes_back}))"
    cleared = f"CASE WHEN {records.takes_back} THEN NULL ELSE {column} END"
    if fold.picks_by_sequence:
        return records.greatest(cleared, fold.sequence)
    if fold.ignore_retract:
        return _plain(fold, field, plain, cleared)
    if fold.function in ("sum", "count"):
        kind = to_spark_type(field.type).simpleString()
        wide = "bigint" if kind in ("tinyint", "smallint", "int") else kind
        value = f"cast({column} as {wide})"
        return f"cast(sum(CASE WHEN {records.takes_back} THEN -{value} ELSE {value} END) as {kind})"
    if fold.function == "last_value":
        return plain.last(cleared)
    if fold.function == "last_non_null_value":
        return f"max_by({cleared}, {records.number}) FILTER (WHERE {column} IS NOT NULL)"
    return in_order_sql(fold, field, column, records.number, records.takes_back)


def _retracting_late(fold: Fold, field: DataField, records: Records, column: str) -> str:
    """The fold of a column of a sequence group, of which some records may come late and some take values back."""
    effect = records.of(fold).number
    if not fold.ignore_retract:
        return in_order_sql(fold, field, column, records.number, records.takes_back, effect)
    counted = effect if fold.ignores_as_null else f"CASE WHEN NOT ({records.takes_back}) THEN {effect} END"
    cleared = f"CASE WHEN {records.takes_back} THEN NULL ELSE {column} END"
    if fold.function == "first_non_null_value":
        return first_non_null_sql(cleared, counted)
    if fold.goes_singly:
        return in_order_sql(fold, field, cleared, records.number, "false", counted)
    return _EXPRESSIONS[fold.function](fold, cleared, replace(records, retractions=False, by=counted))


def _in_order(column: str, records: Records, where: str) -> str:
    """The values of a column that a condition holds for, as an array in the order of their records."""
    pairs = f"collect_list(named_struct('n', {records.number}, 'v', {column})) FILTER (WHERE {where})"
    by_number = "(a, b) -> CASE WHEN a.n < b.n THEN -1 WHEN a.n > b.n THEN 1 ELSE 0 END"
    return f"transform(array_sort({pairs}, {by_number}), one -> one.v)"


def _product(column: str, records: Records, kind: str) -> str:
    wide = {"float": "double", "double": "double"}.get(kind, kind if kind.startswith("decimal") else "bigint")
    factor = f"cast({column} as {wide})"
    values = _in_order(factor, records, f"({column}) IS NOT NULL")
    rest = f"slice({values}, 2, greatest(size({values}) - 1, 0))"
    return f"reduce({rest}, get({values}, 0), (a, b) -> cast(a * b as {wide}))"


def _listagg(fold: Fold, column: str, records: Records) -> str:
    delimiter = formatted_literal(fold.delimiter)
    parts = _in_order(column, records, f"({column}) != ''")
    if fold.distinct and fold.delimiter:
        # The first text stays as it is; of the others come the parts that are new.
        pattern = formatted_literal("".join(f"\\x{{{ord(c):x}}}" for c in fold.delimiter))
        first = f"split(get({parts}, 0), {pattern})"
        others = f"flatten(transform(slice({parts}, 2, greatest(size({parts}) - 1, 0)), one -> split(one, {pattern})))"
        parts = f"concat({first}, array_except(filter({others}, one -> one != ''), {first}))"
    return f"CASE WHEN count({column}) > 0 THEN coalesce(array_join({parts}, {delimiter}), '') END"


def _collect(fold: Fold, column: str, records: Records) -> str:
    flat = f"flatten({_in_order(column, records, f'({column}) IS NOT NULL')})"
    if fold.distinct:
        flat = f"CASE WHEN count(1) > 1 THEN array_distinct({flat}) ELSE {flat} END"
    return f"CASE WHEN count({column}) > 0 THEN {flat} END"


def _merge_map(_fold: Fold, column: str, records: Records) -> str:
    entries = f"flatten({_in_order(f'map_entries({column})', records, f'({column}) IS NOT NULL')})"
    return f"CASE WHEN count({column}) > 0 THEN map_from_entries({keyed_sql(entries, ('key',))}) END"


def _merge_map_with_keytime(fold: Fold, column: str, records: Records) -> str:
    maps = _in_order(f"map_entries({column})", records, f"({column}) IS NOT NULL")
    rest = f"slice({maps}, 2, greatest(size({maps}) - 1, 0))"
    return f"map_from_entries(reduce({rest}, get({maps}, 0), (acc, one) -> {by_time_sql(fold, 'acc', 'one')}))"


def _nested_update(fold: Fold, column: str, records: Records) -> str:
    lists = _in_order(column, records, f"({column}) IS NOT NULL")
    if fold.cleans:
        cleaned = rows_sql(fold, f"filter(flatten({lists}), one -> one IS NOT NULL)")
        return only_as_given(f"CASE WHEN count({column}) > 0 THEN {cleaned} END", column, "false")
    if fold.count_limit is not None:
        rest = f"slice({lists}, 2, greatest(size({lists}) - 1, 0))"
        return f"reduce({rest}, get({lists}, 0), (a, b) -> {limited_sql(fold, 'a', 'b')})"
    rows = f"filter(flatten({lists}), one -> one IS NOT NULL)"
    several = f"WHEN count({column}) > 1 THEN {rows_sql(fold, rows)}"
    return f"CASE {several} ELSE get({lists}, 0) END"


def _sketch(union: str, column: str) -> str:
    # The union of nothing would be an empty sketch, and one sketch stays as it is.
    return f"CASE WHEN count({column}) > 1 THEN {union} ELSE max({column}) END"


_EXPRESSIONS: dict[str, Callable[[Fold, str, Records], str]] = {
    "last_value": lambda _f, column, records: records.last(column),
    "primary-key": lambda _f, column, records: records.last(column),
    "first_value": lambda _f, column, records: f"min_by({column}, {records.number})",
    "last_non_null_value": lambda _f, column, records: (
        f"max_by({column}, {records.number}) FILTER (WHERE ({column}) IS NOT NULL)"
    ),
    "first_non_null_value": lambda _f, column, records: (
        f"min_by({column}, {records.number}) FILTER (WHERE ({column}) IS NOT NULL)"
    ),
    "max": lambda _f, column, _records: f"max({column})",
    "min": lambda _f, column, _records: f"min({column})",
    "sum": lambda _f, column, _records: f"sum({column})",
    "count": lambda _f, column, _records: f"sum({column})",
    "bool_and": lambda _f, column, _records: f"bool_and({column})",
    "bool_or": lambda _f, column, _records: f"bool_or({column})",
    "listagg": _listagg,
    "collect": _collect,
    "merge_map": _merge_map,
    "merge_map_with_keytime": _merge_map_with_keytime,
    "nested_update": _nested_update,
    "nested_partial_update": _nested_update,
    # Sketches of several sizes have a union, too.
    "hll_sketch": lambda _f, column, _records: _sketch(f"hll_union_agg({column}, true)", column),
    "theta_sketch": lambda _f, column, _records: _sketch(f"theta_union_agg({column})", column),
    **dict.fromkeys(
        ("rbm32", "rbm64"),
        lambda fold, column, _records: _sketch(f"{bitmap_union(fold.function)}(collect_list({column}))", column),
    ),
}
