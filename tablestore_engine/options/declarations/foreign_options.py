"""Options that this engine knows but does not act on, most of them Paimon's: a table of another writer may have them.

Those that would make answers or files wrong if they were ignored are *refused*; the others are *kept* without effect
(`kept_options`).
"""

from __future__ import annotations

from typing import Any

from tablestore_engine.options.declarations.kept_options import KEPT_OPTIONS
from tablestore_engine.options.option import Effect, Option
from tablestore_engine.options.option_type import (
    BOOLEAN,
    COLUMNS,
    DURATION,
    ENUM,
    INT,
    TEXT,
    OptionType,
)


def _kept(key: str, type_: OptionType[Any], default: Any, description: str, **more: Any) -> Option[Any]:
    return Option(key, type_, default, description, supported=False, **more)


def _refused_reads(key: str, type_: OptionType[Any], default: Any, description: str, **more: Any) -> Option[Any]:
    """Ignored, it would make answers wrong."""
    return _kept(key, type_, default, description, effect=Effect.READ, **more)


def _refused_writes(key: str, type_: OptionType[Any], default: Any, description: str, **more: Any) -> Option[Any]:
    """Ignored, it would make written files wrong."""
    return _kept(key, type_, default, description, effect=Effect.WRITE, **more)


_OURS = (
    _kept("dbt.options", TEXT, None, "The options that a dbt model set, so that dbt can reset them.", ours=True),
    _kept("constraint.check.*", TEXT, None, "The condition of a CHECK constraint, by its name.", ours=True),
    _kept("dbt.query", TEXT, None, "The query of a materialized view of dbt.", ours=True),
)

_REFUSED = (
    _refused_reads(
        "bucket-function.type",
        ENUM,
        "default",
        "Function that chooses the bucket.",
        choices=("default", "mod", "hive"),
        immutable=True,
        ignored="keys would be in other buckets than those where they are looked up",
    ),
    _refused_writes(
        "upsert-key",
        COLUMNS,
        (),
        "Columns by which writers of other tools find the row to replace.",
        ignored="a row would be added where it must replace another",
    ),
    _refused_writes(
        "pk-*.index.columns",
        COLUMNS,
        (),
        "Columns that have an index in a table with a primary key.",
        ignored="the index would lack the rows that are written here",
    ),
    _refused_reads(
        "postpone.merge-on-read",
        BOOLEAN,
        False,
        "Also read rows that have no bucket yet.",
        ignored="rows without a bucket would be missing",
    ),
    _refused_writes(
        "row-tracking.enabled",
        BOOLEAN,
        False,
        "Give every row a stable id.",
        immutable=True,
        ignored="rows that are written here would have no id",
    ),
    _refused_reads(
        "data-evolution.enabled",
        BOOLEAN,
        False,
        "Store the columns of a row in several files.",
        immutable=True,
        ignored="columns that are in other files would be null",
    ),
    _refused_reads(
        "record-level.expire-time",
        DURATION,
        None,
        "Age at which single rows expire.",
        ignored="expired rows would be in the answers",
    ),
    _refused_reads(
        "record-level.time-field",
        TEXT,
        None,
        "Column whose time decides when a row expires.",
        ignored="expired rows would be in the answers",
    ),
    _refused_reads(
        "primary-key.nullable",
        BOOLEAN,
        False,
        "Allow nulls in the primary key.",
        immutable=True,
        ignored="rows with a null in their key would be compared wrongly",
    ),
    _refused_reads(
        "pk-clustering-override",
        BOOLEAN,
        False,
        "Cluster by other columns than the key.",
        ignored="files that are not sorted by key would be read as if they were",
    ),
    _refused_reads(
        "sequence.snapshot-ordering",
        BOOLEAN,
        False,
        "Order records of a key by snapshot.",
        ignored="another record of a key would win",
    ),
    _refused_reads(
        "chain-table.enabled",
        BOOLEAN,
        False,
        "Use a chain of snapshot and delta branches.",
        ignored="rows of another branch would be missing",
    ),
    _refused_reads(
        "scan.fallback-branch",
        TEXT,
        None,
        "Branch that is read when a partition is missing.",
        ignored="rows of another branch would be missing",
    ),
    _refused_reads(
        "scan.fallback-snapshot-branch",
        TEXT,
        None,
        "Branch that is read when a partition is missing.",
        ignored="rows of another branch would be missing",
    ),
    _refused_reads(
        "scan.fallback-delta-branch",
        TEXT,
        None,
        "Branch of changes, read when a partition is missing.",
        ignored="rows of another branch would be missing",
    ),
    _refused_reads(
        "scan.primary-branch",
        TEXT,
        None,
        "Branch that is read first.",
        ignored="rows of another branch would be missing",
    ),
    _refused_reads(
        "branch", TEXT, "main", "Branch of the table.", ignored="the rows would be those of the main branch"
    ),
    _refused_reads(
        "scan.mode",
        ENUM,
        "default",
        "Part of the table that is read.",
        accepted=("default", "latest", "latest-full", "full"),
        ignored="queries would read all rows of the newest snapshot",
    ),
    *(
        _refused_reads(
            key,
            TEXT,
            None,
            "Past state of the table that is read.",
            ignored="queries would read the newest snapshot; a query has it in a hint of its own",
        )
        for key in (
            "scan.snapshot-id",
            "scan.tag-name",
            "scan.version",
            "scan.watermark",
            "scan.timestamp",
            "scan.timestamp-millis",
            "scan.creation-time-millis",
            "scan.file-creation-time-millis",
            "incremental-between",
            "incremental-between-timestamp",
            "incremental-to-auto-tag",
        )
    ),
    _refused_reads("scan.bucket", INT, None, "The only bucket that is read.", ignored="queries would read all buckets"),
    _refused_reads(
        "scan.partitions",
        TEXT,
        None,
        "The only partitions that are read.",
        fallback_keys=("lookup.dynamic-partition",),
        ignored="queries would read all partitions",
    ),
    _refused_writes(
        "changelog-file.format",
        TEXT,
        None,
        "Format of changelog files.",
        ignored="changelog files would have the format of the data files",
    ),
    _refused_reads(
        "query-auth.enabled",
        BOOLEAN,
        False,
        "Ask the catalog which rows and columns may be read.",
        ignored="everyone would read all rows and columns",
    ),
    _refused_writes(
        "data-file.external-paths",
        TEXT,
        None,
        "Directories of data files outside the table.",
        ignored="files would be written into the folder of the table",
    ),
    _refused_reads(
        "data-file.path-directory",
        TEXT,
        None,
        "Directory of data files below the table.",
        ignored="files would be looked for in another folder",
    ),
    _refused_reads(
        "partial-update.*",
        TEXT,
        None,
        "Options of the partial-update merge engine.",
        ignored="rows would be merged in another way",
    ),
    _refused_reads(
        "aggregation.*",
        TEXT,
        None,
        "Options of the aggregation merge engine.",
        ignored="rows would be merged in another way",
    ),
    _refused_reads(
        "fields.*.map.shared-shredding.*",
        TEXT,
        None,
        "Details of how a map is stored.",
        ignored="maps would be read wrongly",
    ),
    _refused_reads(
        "fields.*.map.storage-layout", ENUM, "default", "How a map is stored.", ignored="maps would be read wrongly"
    ),
)

FOREIGN_OPTIONS: tuple[Option[Any], ...] = (*_OURS, *_REFUSED, *KEPT_OPTIONS)
