"""The schema of a table: its columns by id, its keys and its options, as one version of a growing history.

Vocabulary: *trimmed primary keys* are the primary key without the partition columns, which every row of a bucket
shares; *bucket keys* are the columns whose hash chooses the bucket.

Invariants: names are unique (`schema.types.names` compares them); primary key columns are atomic and NOT NULL; the
primary key of a partitioned table contains the partition columns, unless its buckets are dynamic;
``highest_field_id`` never shrinks, so that an id is never used twice. The JSON form is persisted and must never change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tablestore_engine.errors import ColumnNotFound, OptionError, did_you_mean
from tablestore_engine.options import CoreOptions
from tablestore_engine.schema.casts.cast_old_columns import CastMode, CastRules
from tablestore_engine.schema.merge_engines.engine_rules import Kept
from tablestore_engine.schema.merge_engines.merge_engine import MergeEngine
from tablestore_engine.schema.merge_engines.merge_options import merge_engine_of
from tablestore_engine.schema.table.computed_columns import computed_columns
from tablestore_engine.schema.types.alike_names import alike_names
from tablestore_engine.schema.types.names import Names
from tablestore_engine.schema.types.types import AtomicType, DataField, has_root, nested_fields, parse_field, with_nulls

CURRENT_VERSION = 3
_MERGE_ENGINE, _SEVERAL_LAYOUTS = "merge-engine", "tablestore-partitions"
"""How files mark a table with former partition columns, which has no key: other readers refuse such an engine."""

STAGED_OPTIONS = "tablestore.options"
"""Where the options are while other engines see some else, see `SchemaStore`."""

FILL = DataField(-1, "", AtomicType("INT"))
"""A null after the columns of a partition, so that the number of fields says which columns they are."""


@dataclass(frozen=True)
class TableSchema:
    """One version of a table's schema. ``id`` numbers the versions from 0.

    ``replaces`` is set by CREATE OR REPLACE, to the id of the version before: the schema takes effect once a snapshot
    has been written with it, so that a build that fails leaves the old table. It is also set where rows must be checked
    or laid out anew before the schema counts; then the columns keep their ids (`goes_on_from`).
    ``base`` is set by ALTER TABLE if there are versions between it and the one it was made from: replacements that
    had not been committed. If one of them is committed after all, it wins, and this version is void. ``base`` is also
    set on versions that were made from such a version. With both, a write changed the columns of its base
    (`write.merge-schema`), and the schema takes effect with the rows of the write.
    ``former_partitions`` are the partition columns of before, and ``partition_fill`` says how many nulls follow those
    of today in a partition's row.
    """

    id: int
    fields: tuple[DataField, ...]
    highest_field_id: int
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    time_millis: int = 0
    version: int = CURRENT_VERSION
    replaces: str | None = None
    base: int | None = None
    former_partitions: tuple[tuple[DataField, ...], ...] = ()
    partition_fill: int = 0

    @property
    def replaced_id(self) -> int | None:
        """The id of the version that this one replaces; None for one that replaces none, or one that is not known."""
        return int(self.replaces) if self.replaces is not None and self.replaces.isdigit() else None

    def goes_on_from(self, replaced: TableSchema) -> bool:
        """Whether the rows are still those of the version that this one replaces, so that changes lead from one to the
        other: a layout or constraints are new, and columns kept their ids. Another table has ids of its own, and a key
        makes other rows of those that are there."""
        if self.primary_keys != replaced.primary_keys:
            return False
        ids = {one.id for one in replaced.fields}
        return any(one.id in ids for one in self.fields)

    @cached_property
    def names(self) -> Names:
        """The names of all columns, to compare others with."""
        return Names(one.name for one in self.fields)

    @cached_property
    def alike_names(self) -> tuple[str, ...]:
        """The first columns, or fields of one struct, whose names differ in case only; none in most tables."""
        return alike_names((one.name, one.type) for one in self.fields)

    def key(self, name: str) -> str:
        """The text that all spellings of a column's name share."""
        return self.names.key(name)

    @cached_property
    def _by_name(self) -> dict[str, DataField]:
        return {self.key(one.name): one for one in self.fields}

    def field(self, name: str) -> DataField:
        """The column of that name. Raises ColumnNotFound, which names the nearest one."""
        found = self._by_name.get(self.key(name))
        if found is None:
            computed = {one.name.lower(): one.sql for one in computed_columns(self.options)}.get(name.lower())
            if computed is not None:
                raise ColumnNotFound(f"Column '{name}' is computed (AS {computed}): it takes no values.")
            hint = did_you_mean(name, self.field_names)
            raise ColumnNotFound(f"Column '{name}' does not exist.", hint=hint)
        return found

    def has_field(self, name: str) -> bool:
        """Whether there is a column of that name."""
        return self.key(name) in self._by_name

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """The names of all columns, in order."""
        return tuple(one.name for one in self.fields)

    @cached_property
    def nested_names(self) -> frozenset[str]:
        """The names, in lower case, of the fields of structs at any depth."""
        return frozenset(inner.name.lower() for one in self.fields for inner in nested_fields(one.type))

    @property
    def is_keyed(self) -> bool:
        """Whether the table has a primary key."""
        return bool(self.primary_keys)

    @cached_property
    def trimmed_primary_keys(self) -> tuple[str, ...]:
        """The primary key without the partition columns, in key order."""
        return tuple(name for name in self.primary_keys if name not in self.partition_keys)

    @cached_property
    def trimmed_key_fields(self) -> tuple[DataField, ...]:
        """The columns of ``trimmed_primary_keys``."""
        return tuple(self.field(name) for name in self.trimmed_primary_keys)

    @cached_property
    def bucket_keys(self) -> tuple[str, ...]:
        """The columns whose hash chooses the bucket; empty for an append table without ``bucket-key``."""
        return self.core_options.bucket_key or self.trimmed_primary_keys

    @cached_property
    def bitwise_columns(self) -> tuple[str, ...]:
        """The columns in which equal values must have equal bytes, because these choose where a row lies: 0.0 and -0.0
        are one value."""
        if self.primary_keys or not self.merge_engine.rules.is_multiset:
            return self.primary_keys
        return (*self.partition_keys, *self.bucket_keys)

    @cached_property
    def bucket_fields(self) -> tuple[DataField, ...]:
        """The columns of ``bucket_keys``."""
        return tuple(self.field(name) for name in self.bucket_keys)

    @cached_property
    def has_dynamic_buckets(self) -> bool:
        """Whether a key stays in the bucket that it was first assigned to, instead of the one that its hash says."""
        return self.is_keyed and self.core_options.bucket == -1

    @cached_property
    def crosses_partitions(self) -> bool:
        """Whether the primary key leaves a partition column out, so that a key may move to another partition."""
        return self.is_keyed and not set(self.partition_keys) <= set(self.primary_keys)

    @cached_property
    def reads_files_alone(self) -> bool:
        """Whether readers need no merge: deletion vectors mark the superseded records of all files above level 0."""
        options = self.core_options
        return self.is_keyed and options.deletion_vectors and not options.deletion_vectors_merge_on_read

    @property
    def merges_old_rows(self) -> bool:
        """Whether, in a table with deletion vectors, the record that was there counts in what a key's row becomes: its
        values are folded with later ones, or it may be the greater one in the sequence fields."""
        if not self.reads_files_alone:
            return False
        return self.merge_engine.rules.kept is Kept.FOLD or bool(self.core_options.sequence_field)

    @property
    def records_when_compacted(self) -> bool:
        """Whether, in a table with deletion vectors, the compaction that makes new rows readable records their changes.
        A commit that adds rows which can be read at once records them itself."""
        options = self.core_options
        return self.reads_files_alone and options.change_tracking and options.changelog_producer == "lookup"

    @property
    def records_when_written(self) -> bool:
        """Whether the commit of new rows records their changes, or its statement did not want that."""
        options, later = self.core_options, self.records_when_compacted
        return options.change_tracking and options.changelog_producer in ("input", "lookup") and not later

    def records_merged(self, written: TableSchema) -> bool:
        """Whether a compaction records rows that it makes readable: those that a schema left to it, and under this
        schema those that no commit recorded."""
        return written.records_when_compacted or (self.records_when_compacted and not written.records_when_written)

    @property
    def recorded_level(self) -> int:
        """The lowest level of which the changes of all rows are recorded; 0 unless full compactions record them."""
        options = self.core_options
        full = options.change_tracking and options.changelog_producer == "full-compaction"
        return options.num_levels - 1 if full and self.is_keyed and not options.deletion_vectors else 0

    @property
    def has_hash_index(self) -> bool:
        """Whether an index of hashes holds the bucket of each key. Keys that cross partitions are found by reading."""
        return self.has_dynamic_buckets and not self.crosses_partitions

    @cached_property
    def partition_fields(self) -> tuple[DataField, ...]:
        """The partition columns, in partition order."""
        return tuple(self.field(name) for name in self.partition_keys)

    @cached_property
    def partition_layouts(self) -> Mapping[int, tuple[DataField, ...]]:
        """The partition columns, those of today and those of before, by the number of fields of a partition."""
        today = (*self.partition_fields, *[FILL] * self.partition_fill)
        return {len(one): tuple(f for f in one if f != FILL) for one in (*self.former_partitions, today)}

    @cached_property
    def core_options(self) -> CoreOptions:
        """The parsed options. Unknown values are tolerated, because another writer may have stored them."""
        return CoreOptions.parse(self.options, strict=False, keyed=self.is_keyed)

    @cached_property
    def cast_rules(self) -> CastRules:
        """How values of files are cast whose columns had other types.

        Raises:
            OptionError: another writer stored a mode that this engine does not know.
        """
        options = self.core_options
        try:
            mode = CastMode(options.schema_evolution_cast)
        except ValueError:
            raise OptionError(
                f"Option 'schema.evolution.cast' = '{options.schema_evolution_cast}' is not supported by this engine."
            ) from None
        return CastRules(mode, options.schema_evolution_time_zone)

    @cached_property
    def merge_engine(self) -> MergeEngine:
        """How records of one key become one row.

        Raises:
            OptionError: the options ask for something that this engine does not support.
        """
        return merge_engine_of(self.fields, self.primary_keys, self.core_options, self.partition_keys)

    @property
    def holds_whole_records(self) -> bool:
        """Whether a record above level 0 holds what all older ones of its key hold: compactions look these up, or
        merge them. Of a key, other readers take only the record at the lowest such level."""
        options, kept = self.core_options, self.merge_engine.rules.kept
        if not self.is_keyed or not (options.force_lookup or options.changelog_producer == "lookup"):
            return False
        if self.reads_files_alone:
            return False  # the older ones are marked as deleted
        return kept is Kept.FOLD or (kept is Kept.NEWEST and bool(options.sequence_field))

    @cached_property
    def required_columns(self) -> tuple[str, ...]:
        """The columns that cannot be null, and those whose values have parts that cannot be."""
        return tuple(
            one.name for one in self.fields if has_root(one.type, ("VARIANT",)) or one.type != with_nulls(one.type)
        )

    @cached_property
    def removing_columns(self) -> tuple[str, ...] | None:
        """The columns by which a record of kind -D removes the row of its key; the others may be null in it. None for
        all columns: the record's values are folded, or become rows of a changelog or of the log."""
        options = self.core_options
        passed_on = options.changelog_producer == "input" or options.log_system != "none"
        if passed_on or options.rowkind_field or self.merge_engine.rules.kept is not Kept.NEWEST:
            return None
        return (*self.primary_keys, *self.partition_keys, *options.sequence_field, *self.required_columns)

    @property
    def keeps_deletes(self) -> bool:
        """Whether deletes are kept by every merge, because a late row may be older than a delete.

        With deletion vectors no record above level 0 is a delete, for any reader.
        """
        return bool(self.core_options.sequence_field) and not self.reads_files_alone

    def to_json(self, for_others: Mapping[str, str] | None = None) -> str:
        """The persisted form. With `for_others`, other engines see these options instead; `from_json` ignores them."""
        shown = self.options if for_others is None else for_others
        data: dict[str, Any] = {
            "version": self.version,
            "id": self.id,
            "fields": [one.to_json() for one in self.fields],
            "highestFieldId": self.highest_field_id,
            "partitionKeys": list(self.partition_keys),
            "primaryKeys": list(self.primary_keys),
            "options": {**shown, **({_MERGE_ENGINE: _SEVERAL_LAYOUTS} if self.former_partitions else {})},
        }
        if self.comment is not None:
            data["comment"] = self.comment
        data["timeMillis"] = self.time_millis
        if self.replaces is not None:
            data["tablestore.replaces"] = self.replaces
        if for_others is not None:
            data[STAGED_OPTIONS] = dict(self.options)
        if self.base is not None:
            data["tablestore.base"] = self.base
        if self.former_partitions:
            data["tablestore.formerPartitions"] = [[f.to_json() for f in one] for one in self.former_partitions]
            if self.partition_fill:
                data["tablestore.partitionFill"] = self.partition_fill
        return json.dumps(data, indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> TableSchema:
        """The schema of a persisted text.

        Raises:
            ValueError, KeyError, TypeError: the text is not a schema.
            UnsupportedTypeError: a column has a type that this engine cannot hold.
        """
        data = json.loads(text)
        version = data.get("version", 1)
        options = dict(data.get(STAGED_OPTIONS, data.get("options")) or {})
        if options.get(_MERGE_ENGINE) == _SEVERAL_LAYOUTS:
            del options[_MERGE_ENGINE]
        # Defaults of the first two versions of the format.
        if version <= 1:
            options.setdefault("bucket", "1")
        if version <= 2:
            options.setdefault("file.format", "orc")
        return cls(
            id=int(data["id"]),
            fields=tuple(parse_field(one) for one in data["fields"]),
            highest_field_id=int(data["highestFieldId"]),
            partition_keys=tuple(data["partitionKeys"]),
            primary_keys=tuple(data["primaryKeys"]),
            options=options,
            comment=data.get("comment"),
            time_millis=int(data.get("timeMillis") or 0),
            version=version,
            replaces=data.get("tablestore.replaces"),
            base=data.get("tablestore.base"),
            former_partitions=tuple(
                tuple(parse_field(f) for f in one) for one in data.get("tablestore.formerPartitions") or ()
            ),
            partition_fill=int(data.get("tablestore.partitionFill") or 0),
        )
