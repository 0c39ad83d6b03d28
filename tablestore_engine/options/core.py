"""The options of one table, parsed: a frozen value that the rest of the engine asks.

``CoreOptions.parse(mapping)`` is strict, for tables that are being created or altered here: an unknown key, a bad
value, or a value that this engine does not act on and that would change answers is an OptionError.
``parse(mapping, strict=False)`` is for tables that exist: other writers may have stored anything. Then
``refuse_unsupported`` says, before reading or writing, whether ignoring what is not acted on would be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tablestore_engine.errors import OptionError, nearest
from tablestore_engine.options.catalog import COUNT_ENGINE, OPTIONS
from tablestore_engine.options.option import Effect, Option, OptionType

_EXACT: dict[str, Option] = {key: option for option in OPTIONS if not option.is_pattern for key in option.keys}
_PATTERNS: tuple[tuple[re.Pattern[str], Option], ...] = tuple(
    # The last '*' of a family may stand for dotted keys, a column name in the middle as well: columns have dots too.
    (re.compile(re.escape(key).replace(r"\*", ".+")), option)
    for option in OPTIONS
    if option.is_pattern
    for key in option.keys
)
_MB = 1 << 20


@lru_cache(maxsize=1024)
def find_option(key: str) -> Option | None:
    """The option that a key belongs to, by its exact key, another spelling, or a pattern; None if unknown."""
    if key in _EXACT:
        return _EXACT[key]
    for pattern, option in _PATTERNS:
        if pattern.fullmatch(key):
            return option
    return None


def spellings(key: str) -> tuple[str, ...]:
    """All keys that set what `key` sets, the option's own one first; `key` alone when it is unknown."""
    option = find_option(key)
    if option is None or not option.is_pattern:
        return (key,) if option is None else option.keys
    for one in option.keys:
        match = re.fullmatch(re.escape(one).replace(r"\*", "(.+)"), key)
        if match and one.count("*") == 1:
            return tuple(other.replace("*", match[1]) for other in option.keys)
    return (key,)


def _unknown(key: str) -> OptionError:
    near = nearest(key.replace("_", "-"), _EXACT)
    return OptionError(f"Unknown table option '{key}'.", hint=f"Did you mean '{near}'?" if near else None)


def _not_acted_on(key: str, value: str, option: Option) -> OptionError:
    accepted = ", ".join(_text_of(one) for one in (option.accepted or (option.default,)) if one is not None)
    hint = f"Only {accepted} is, so far." if accepted else "Leave it out."
    return OptionError(f"Option '{key}' = '{value}' is not supported by this engine.", hint=hint)


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def validate(mapping: Mapping[str, str], *, keyed: bool = False) -> None:
    """Raise an OptionError unless every option is known, well formed and acted on. ``keyed``: has a primary key."""
    CoreOptions.parse(mapping, keyed=keyed)


@dataclass(frozen=True)
class CoreOptions:
    """The options of a table. Sizes are bytes, times are milliseconds, column lists are tuples of names."""

    keyed: bool
    bucket: int
    bucket_key: tuple[str, ...]
    merge_engine: str
    sequence_field: tuple[str, ...]
    sequence_field_descending: bool
    ignore_delete: bool
    retractions: str
    ignore_update_before: bool
    aggregation_removes_on_delete: bool
    partial_update_removes_on_delete: bool
    partial_update_removes_on_sequence_group: tuple[str, ...]
    rowkind_field: str | None
    target_file_size: int
    file_format: str
    file_compression: str
    file_compression_zstd_level: int
    write_buffer_size: int
    write_buffer_total_size: int
    data_file_prefix: str
    write_only: bool
    num_sorted_runs_compaction_trigger: int
    num_levels: int
    max_size_amplification_percent: int
    size_ratio: int
    optimization_interval_millis: int | None
    total_size_threshold: int | None
    incremental_size_threshold: int | None
    compaction_min_file_num: int
    compaction_schedule_enabled: bool
    compaction_delta_commits: int
    compaction_lease_millis: int
    commit_max_retries: int
    commit_timeout_millis: int | None
    commit_min_retry_wait_millis: int
    commit_max_retry_wait_millis: int
    commit_user_prefix: str | None
    dynamic_partition_overwrite: bool
    manifest_target_size: int
    manifest_merge_min_count: int
    manifest_compression: str
    snapshot_num_retained_min: int
    snapshot_num_retained_max: int
    snapshot_time_retained_millis: int
    snapshot_expire_limit: int
    partition_expiration_time_millis: int | None
    partition_expiration_strategy: str
    partition_expiration_check_interval_millis: int
    partition_expiration_max_num: int
    partition_timestamp_pattern: str | None
    partition_timestamp_formatter: str | None
    tag_default_time_retained_millis: int | None
    partition_default_name: str
    partition_legacy_name: bool
    metadata_stats_mode: str
    column_stats_modes: Mapping[str, str]
    stats_dense_store: bool
    changelog_producer: str
    deletion_vectors: bool
    deletion_vectors_merge_on_read: bool
    dynamic_bucket_target_row_num: int
    dynamic_bucket_initial_buckets: int
    dynamic_bucket_max_buckets: int
    index_file_in_data_file_dir: bool
    raw: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def parse(cls, mapping: Mapping[str, str], *, strict: bool = True, keyed: bool = False) -> CoreOptions:
        """The parsed options. ``keyed`` says that the table has a primary key, which moves some defaults.

        Raises:
            OptionError: strict: unknown key (with the nearest known one), bad value, or a value that is known but
                not acted on and would change answers. Not strict: only bad values of options that are acted on.
        """
        values: dict[str, Any] = {}
        stats_modes: dict[str, str] = {}
        for key, text in mapping.items():
            option = find_option(key)
            if option is None:
                if strict:
                    raise _unknown(key)
                continue
            value = _parse_one(option, key, str(text), strict)
            if strict and not option.acts_on(value):
                raise _not_acted_on(key, str(text), option)
            if option.key == "fields.*.stats-mode":
                stats_modes[key[len("fields.") : -len(".stats-mode")]] = value
            elif not option.is_pattern:
                values[option.key] = value
        if strict:
            _check_buckets(values.get("bucket", -1))
        return cls._of(values, stats_modes, dict(mapping), keyed)

    @classmethod
    def _of(cls, given: dict[str, Any], stats_modes: dict[str, str], raw: dict[str, str], keyed: bool) -> CoreOptions:
        def get(key: str) -> Any:
            value = given.get(key)
            return _EXACT[key].default if value is None else value

        trigger = get("num-sorted-run.compaction-trigger")
        default_name = get("partition.default-name")
        return cls(
            keyed=keyed,
            bucket=get("bucket"),
            bucket_key=get("bucket-key"),
            merge_engine=get("merge-engine"),
            sequence_field=get("sequence.field"),
            sequence_field_descending=get("sequence.field.sort-order") == "descending",
            ignore_delete=get("ignore-delete"),
            retractions=get("retractions"),
            ignore_update_before=get("ignore-update-before"),
            aggregation_removes_on_delete=get("aggregation.remove-record-on-delete"),
            partial_update_removes_on_delete=get("partial-update.remove-record-on-delete"),
            partial_update_removes_on_sequence_group=get("partial-update.remove-record-on-sequence-group"),
            rowkind_field=get("rowkind.field"),
            target_file_size=get("target-file-size") or (128 * _MB if keyed else 256 * _MB),
            file_format=get("file.format"),
            file_compression=get("file.compression"),
            file_compression_zstd_level=get("file.compression.zstd-level"),
            write_buffer_size=get("write-buffer-size"),
            write_buffer_total_size=get("write-buffer-total-size"),
            data_file_prefix=get("data-file.prefix"),
            write_only=get("write-only"),
            num_sorted_runs_compaction_trigger=trigger,
            num_levels=get("num-levels") or trigger + 1,
            max_size_amplification_percent=get("compaction.max-size-amplification-percent"),
            size_ratio=get("compaction.size-ratio"),
            optimization_interval_millis=get("compaction.optimization-interval"),
            total_size_threshold=get("compaction.total-size-threshold"),
            incremental_size_threshold=get("compaction.incremental-size-threshold"),
            compaction_min_file_num=get("compaction.min.file-num"),
            compaction_schedule_enabled=get("compaction.schedule.enabled"),
            compaction_delta_commits=get("compaction.delta-commits"),
            compaction_lease_millis=get("compaction.lease"),
            commit_max_retries=get("commit.max-retries"),
            commit_timeout_millis=get("commit.timeout"),
            commit_min_retry_wait_millis=get("commit.min-retry-wait"),
            commit_max_retry_wait_millis=get("commit.max-retry-wait"),
            commit_user_prefix=get("commit.user-prefix"),
            dynamic_partition_overwrite=get("dynamic-partition-overwrite"),
            manifest_target_size=get("manifest.target-file-size"),
            manifest_merge_min_count=get("manifest.merge-min-count"),
            manifest_compression=get("manifest.compression"),
            snapshot_num_retained_min=get("snapshot.num-retained.min"),
            snapshot_num_retained_max=get("snapshot.num-retained.max"),
            snapshot_time_retained_millis=get("snapshot.time-retained"),
            snapshot_expire_limit=get("snapshot.expire.limit"),
            partition_expiration_time_millis=get("partition.expiration-time"),
            partition_expiration_strategy=get("partition.expiration-strategy"),
            partition_expiration_check_interval_millis=get("partition.expiration-check-interval"),
            partition_expiration_max_num=get("partition.expiration-max-num"),
            partition_timestamp_pattern=get("partition.timestamp-pattern"),
            partition_timestamp_formatter=get("partition.timestamp-formatter"),
            tag_default_time_retained_millis=get("tag.default-time-retained"),
            partition_default_name=default_name,
            partition_legacy_name=get("partition.legacy-name"),
            metadata_stats_mode=get("metadata.stats-mode"),
            column_stats_modes=stats_modes,
            stats_dense_store=get("metadata.stats-dense-store"),
            changelog_producer=get("changelog-producer"),
            deletion_vectors=get("deletion-vectors.enabled"),
            deletion_vectors_merge_on_read=get("deletion-vectors.merge-on-read"),
            dynamic_bucket_target_row_num=get("dynamic-bucket.target-row-num"),
            dynamic_bucket_initial_buckets=get("dynamic-bucket.initial-buckets"),
            dynamic_bucket_max_buckets=get("dynamic-bucket.max-buckets"),
            index_file_in_data_file_dir=get("index-file-in-data-file-dir"),
            raw=raw,
        )

    def stats_mode(self, column: str) -> str:
        """``none``, ``counts``, ``full`` or ``truncate(n)``: the statistics to keep of a column."""
        return self.column_stats_modes.get(column, self.metadata_stats_mode)

    def refuse_unsupported(self, *, for_write: bool) -> None:
        """Raise an OptionError when this engine would read (or write) a table with these options wrongly."""
        for key, text in self.raw.items():
            option = find_option(key)
            if option is None or option.effect is Effect.NONE or (option.effect is Effect.WRITE and not for_write):
                continue
            value = _parse_one(option, key, str(text), strict=False)
            if value is not None and not option.acts_on(value):
                raise _not_acted_on(key, str(text), option)
        if self.keyed and self.merge_engine == COUNT_ENGINE:
            raise OptionError(
                f"Option 'merge-engine' = '{COUNT_ENGINE}' is not supported by this "
                f"engine for a table with a primary key."
            )
        if for_write:
            _check_buckets(self.bucket)


def _parse_one(option: Option, key: str, text: str, strict: bool) -> Any:
    try:
        return option.parse(text, key)
    except OptionError:
        if strict or (option.supported and option.type is not OptionType.ENUM):
            raise
        # An enum value of a newer writer stays visible, so that it can be refused where it matters.
        return text.strip().lower() if option.type is OptionType.ENUM else None


def _check_buckets(bucket: int) -> None:
    if bucket == 0:
        raise OptionError("Option 'bucket' cannot be '0': at least 1 is expected.")
    if bucket == -2:
        raise OptionError(
            "Option 'bucket' = '-2' is not supported for writing here.",
            hint="Set a number of buckets, for example 'bucket' = '4', or '-1' for as many as the rows need.",
        )
