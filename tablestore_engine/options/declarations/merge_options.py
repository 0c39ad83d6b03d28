"""Options of merging: how the records of one key become one row, and which kinds of records there are."""

from __future__ import annotations

from tablestore_engine.options.declarations.needs import NO_KEY, SEQUENCE
from tablestore_engine.options.option import ColumnOption, Effect, Need, Option
from tablestore_engine.options.option_type import BOOLEAN, COLUMNS, ENUM, INT, TEXT

AGGREGATE_FUNCTIONS = (
    "sum", "product", "max", "min", "last_value", "last_non_null_value", "first_value", "first_non_null_value",
    "count", "listagg", "bool_and", "bool_or", "collect", "merge_map", "merge_map_with_keytime", "nested_update",
    "nested_partial_update", "hll_sketch", "theta_sketch", "rbm32", "rbm64", "primary-key", "first_not_null_value",
)  # fmt: skip
"""The aggregate functions that this engine knows; the last is an old name of first_non_null_value."""
COUNT_ENGINE = "tablestore-count"
"""The merge engine of tables without a key that take retractions. No other reader knows it, so all refuse them."""
MERGE_ENGINES = ("deduplicate", "partial-update", "aggregation", "first-row", COUNT_ENGINE)

_AGGREGATES = Need(
    "without 'merge-engine' = 'aggregation' or 'partial-update'",
    lambda table: table.core_options.merge_engine in ("aggregation", "partial-update"),
)


class MergeOptions:
    """How records of a table are merged."""

    __slots__ = ()

    merge_engine = Option(
        "merge-engine",
        ENUM,
        "deduplicate",
        "How the records of one key become one row.",
        choices=MERGE_ENGINES,
        accepted=MERGE_ENGINES,
        immutable=True,
        effect=Effect.READ,
    )
    sequence_field = Option(
        "sequence.field",
        COLUMNS,
        (),
        "Columns that order the records of one key: the greatest wins, in whatever order they arrive.",
        immutable=True,
    )
    sequence_field_sort_order = Option(
        "sequence.field.sort-order",
        ENUM,
        "ascending",
        "Whether the greatest or the smallest sequence wins.",
        choices=("ascending", "descending"),
        immutable=True,
        needs=SEQUENCE,
    )

    # -- the merge engine aggregation

    column_aggregate_functions = ColumnOption(
        "fields.*.aggregate-function",
        ENUM,
        None,
        "Function that aggregates the values of one column; the merge engine is aggregation.",
        choices=AGGREGATE_FUNCTIONS,
        accepted=AGGREGATE_FUNCTIONS,
        immutable=True,
        fallback_keys=("fields.*.function",),
        effect=Effect.READ,
    )
    default_aggregate_function = Option(
        "fields.default-aggregate-function",
        ENUM,
        "last_non_null_value",
        "Function of the columns that have none of their own; in a partial-update, of those in sequence groups.",
        choices=AGGREGATE_FUNCTIONS,
        accepted=AGGREGATE_FUNCTIONS,
        immutable=True,
        effect=Effect.READ,
        needs=_AGGREGATES,
    )
    column_list_agg_delimiters = ColumnOption(
        "fields.*.list-agg-delimiter",
        TEXT,
        ",",
        "Text between the parts of a listagg.",
        immutable=True,
        effect=Effect.READ,
    )
    column_distinct = ColumnOption(
        "fields.*.distinct",
        BOOLEAN,
        False,
        "Whether listagg and collect keep each value once.",
        immutable=True,
        effect=Effect.READ,
    )
    column_nested_keys = ColumnOption(
        "fields.*.nested-key",
        COLUMNS,
        (),
        "Fields that identify the rows in a nested_update or nested_partial_update.",
        immutable=True,
        effect=Effect.READ,
    )
    column_nested_key_null_strategies = ColumnOption(
        "fields.*.nested-key-null-strategy",
        ENUM,
        "merge",
        "What happens to nested rows with a null in their key: they are merged by it, left out (ignore), or an error.",
        choices=("merge", "ignore", "error"),
        immutable=True,
        effect=Effect.READ,
    )
    column_nested_sequence_fields = ColumnOption(
        "fields.*.nested-sequence-field",
        COLUMNS,
        (),
        "Fields that order the rows of one nested key in a nested_update: the greatest stays.",
        immutable=True,
        effect=Effect.READ,
    )
    column_count_limits = ColumnOption(
        "fields.*.count-limit",
        INT,
        None,
        "Rows of a nested_update beyond which none is added.",
        immutable=True,
        effect=Effect.READ,
    )
    column_ts_fields = ColumnOption(
        "fields.*.ts-field",
        TEXT,
        None,
        "Text field of the rows in a merge_map_with_keytime that says which is newer; the last field by default.",
        immutable=True,
        effect=Effect.READ,
    )
    column_ignore_retract = ColumnOption(
        "fields.*.ignore-retract",
        BOOLEAN,
        False,
        "Leave retractions (-U, -D) out of the aggregate of one column.",
        immutable=True,
        effect=Effect.READ,
    )
    aggregation_removes_on_delete = Option(
        "aggregation.remove-record-on-delete",
        BOOLEAN,
        False,
        "A delete (-D) removes the row, instead of retracting its values.",
        immutable=True,
        effect=Effect.READ,
    )

    # -- the merge engine partial-update

    column_sequence_groups = ColumnOption(
        "fields.*.sequence-group",
        COLUMNS,
        (),
        "Columns that are replaced together, by the record in which the column in the key (or several columns, "
        "separated by commas) is greatest; the merge engine is partial-update.",
        immutable=True,
        effect=Effect.READ,
    )
    partial_update_removes_on_delete = Option(
        "partial-update.remove-record-on-delete",
        BOOLEAN,
        False,
        "A delete (-D) removes the row.",
        immutable=True,
        effect=Effect.READ,
    )
    partial_update_removes_on_sequence_group = Option(
        "partial-update.remove-record-on-sequence-group",
        COLUMNS,
        (),
        "Sequence columns. A delete (-D) removes the row when it does not come too late for the sequence group of one "
        "of them.",
        immutable=True,
        effect=Effect.READ,
    )

    # -- kinds of records

    rowkind_field = Option(
        "rowkind.field",
        TEXT,
        None,
        "Text column that holds the kind of each row (+I, -U, +U, -D).",
        immutable=True,
        effect=Effect.WRITE,
    )
    ignore_delete = Option(
        "ignore-delete",
        BOOLEAN,
        False,
        "Drop retractions (-D and -U) when they are written.",
        immutable=True,
        fallback_keys=("first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"),
        effect=Effect.READ,
    )
    ignore_update_before = Option(
        "ignore-update-before",
        BOOLEAN,
        False,
        "Drop records of kind -U when they are written.",
        immutable=True,
        effect=Effect.WRITE,
    )
    retractions = Option(
        "retractions",
        ENUM,
        "auto",
        "What happens at the first row of kind -U or -D in a table without a key. With auto, the table counts rows "
        "from then on (merge engine tablestore-count, which other readers refuse); with refuse, it is an error. An "
        "option of this engine.",
        choices=("auto", "refuse"),
        needs=NO_KEY,
    )
