"""Options that are kept for other engines: accepted, stored in the table, and without effect here.

Most are Paimon's, of its core and of its connectors to Flink and Spark, grouped by what they are for. A key that ends
in `.*` is a family whose names other software defines.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tablestore_engine.options.option import Option
from tablestore_engine.options.option_type import BOOLEAN, DURATION, FLOAT, INT, MEMORY, TEXT

_TYPES = {"boolean": BOOLEAN, "int": INT, "float": FLOAT, "memory": MEMORY, "duration": DURATION, "text": TEXT}


def _group(description: str, **keys: str) -> Iterator[Option[Any]]:
    """The options of one purpose, as words by the name of their type."""
    for kind, words in keys.items():
        for key in words.split():
            yield Option(key, _TYPES[kind], None, description, supported=False)


KEPT_OPTIONS: tuple[Option[Any], ...] = (
    *_group(
        "Kinds of file indexes that are not written and not read here.",
        text="file-index.bsi.columns file-index.range-bitmap.columns",
        memory="file-index.range-bitmap.*.chunk-size",
    ),
    *_group(
        "Lookup joins of Flink, and the caches and local stores that they use.",
        boolean="lookup.async lookup.blob-as-descriptor lookup.cache.bloom.filter.enabled "
        "lookup.dynamic-partition.refresh.async lookup.refresh.async lookup.remote-file.enabled "
        "rocksdb.bloom-filter.block-based-mode rocksdb.compaction.level.use-dynamic-size "
        "rocksdb.use-bloom-filter",
        int="lookup.async-thread-number lookup.bootstrap-parallelism lookup.cache-rows "
        "lookup.merge-records-threshold lookup.refresh.async.pending-snapshot-count "
        "lookup.refresh.full-load-threshold lookup.remote-file.level-threshold rocksdb.files.open "
        "rocksdb.log.file-num rocksdb.thread.num rocksdb.writebuffer.count "
        "rocksdb.writebuffer.number-to-merge",
        float="lookup.cache.bloom.filter.fpp lookup.cache.high-priority-pool-ratio lookup.hash-load-factor "
        "rocksdb.bloom-filter.bits-per-key",
        memory="local-kv-db.block-size lookup.cache-max-disk-size "
        "lookup.merge-buffer-size rocksdb.block.blocksize rocksdb.block.cache-size "
        "rocksdb.block.metadata-blocksize rocksdb.compaction.level.max-size-level-base "
        "rocksdb.compaction.level.target-file-size-base rocksdb.log.max-file-size rocksdb.writebuffer.size",
        duration="lookup.cache-file-retention lookup.continuous.discovery-interval "
        "lookup.dynamic-partition.refresh-interval",
        text="lookup.cache lookup.cache-spill-compression lookup.refresh.time-periods-blacklist "
        "rocksdb.compaction.style rocksdb.compression.type rocksdb.log.dir rocksdb.log.level",
    ),
    *_group(
        "Compaction that produces changelogs: here they need none of it.",
        boolean="changelog-producer.lookup-wait changelog.precommit-compact "
        "delete.force-produce-changelog lookup-wait precommit-compact",
        int="changelog.precommit-compact.thread-num lookup-compact.max-interval",
        memory="changelog.precommit-compact.buffer-size",
        duration="changelog-producer.compaction-interval",
        text="changelog-file.compression changelog-file.stats-mode lookup-compact",
    ),
    *_group(
        "How Flink plans and splits a read, and how often it looks for new snapshots.",
        boolean="incremental-between-tag-to-snapshot log.scan.remove-normalize scan.bounded "
        "scan.dedicated-split-generation scan.infer-parallelism scan.plan-sort-partition "
        "scan.remove-normalize source.checkpoint-align.enabled source.split.target-size-with-column-pruning "
        "unaware-bucket.no-shuffle",
        int="end-input.watermark scan.bounded.watermark scan.infer-parallelism.max "
        "scan.manifest.parallelism scan.max-snapshot.count scan.max-splits-per-task scan.parallelism "
        "scan.split-enumerator.batch-size unaware-bucket.compaction.parallelism",
        memory="source.split.open-file-cost source.split.target-size",
        duration="continuous.discovery-interval scan.watermark.alignment.max-drift "
        "scan.watermark.alignment.update-interval scan.watermark.idle-timeout source.checkpoint-align.timeout",
        text="batch-scan-mode incremental-between-scan-mode scan.split-enumerator.mode "
        "scan.watermark.alignment.group scan.watermark.emit.strategy source.operator-uid.suffix "
        "stream-scan-mode",
    ),
    *_group(
        "Damaged or missing files that other engines may skip; here they are errors.",
        boolean="scan.ignore-corrupt-files scan.ignore-lost-files",
    ),
    *_group(
        "Reads of another branch.",
        boolean="scan.fallback-branch.read-fail-fast",
        duration="scan.plan-auto-tag-for-read.time-retained",
    ),
    *_group(
        "Streaming reads of other engines.",
        boolean="consumer.changelog-only read.allow.fullScan read.changelog streaming-read-append-overwrite "
        "streaming-read-overwrite streaming-read.shuffle-bucket-with-partition",
        int="read.stream.maxBytesPerTrigger read.stream.maxTriggerDelayMs read.stream.minRowsPerTrigger",
        duration="streaming.read.snapshot.delay",
        text="consumer.mode",
    ),
    *_group(
        "Batches and threads of readers.",
        boolean="key-value.sequence_number.enabled read.shuffle-bucket-with-partition "
        "table-read.sequence-number.enabled",
        int="read.batch-size",
        memory="file-reader-async-threshold",
    ),
    *_group(
        "How Flink runs its writers and committers.",
        boolean="filesystem.job-level-settings.enabled requiredSparkConfsCheck.enabled "
        "sink.clustering.sort-in-cluster sink.committer-operator-chaining sink.coordinator-commit.enabled "
        "sink.key-only-deletes.enabled sink.savepoint.auto-tag sink.use-managed-memory-allocator "
        "sink.writer-coordinator.cache-soft-values sink.writer-coordinator.enabled "
        "sink.writer-coordinator.prefetch-manifests",
        int="dynamic-bucket.assigner-parallelism sink.clustering.sample-factor sink.parallelism",
        float="sink.committer-cpu sink.writer-cpu",
        memory="sink.committer-memory sink.cross-partition.managed-memory sink.managed.writer-buffer-memory "
        "sink.writer-coordinator.cache-memory sink.writer-coordinator.page-size sink.writer-memory",
        duration="sink.writer-coordinator.cache-expire-after-access snapshot.watermark-idle-timeout",
        text="commit.custom-listeners partition.sink-strategy sink.clustering.by-columns sink.clustering.strategy "
        "sink.operator-uid.suffix sink.writer-refresh-detectors",
    ),
    *_group(
        "Memory, buffers and spilled files of other engines' writers.",
        boolean="async-file-write write-buffer-for-append write.use-v2-write",
        int="cross-partition-upsert.bootstrap-parallelism local-sort.max-num-file-handles sort-spill-threshold "
        "spill-compression.zstd-level write-max-writers-to-spill write.batch-size",
        memory="cache-page-size local-merge-buffer-size page-size sort-spill-buffer-size write-manifest-cache "
        "write.batch-memory",
        duration="cross-partition-upsert.index-ttl",
        text="sort-engine spill-compression write-buffer-spill.max-disk-size write.sequence-number-init-mode",
    ),
    *_group(
        "How a write of Spark evolves the schema.",
        boolean="write.merge-schema.type-widening",
        int="write.data-evolution.update-conflict-retry.max-attempts "
        "write.data-evolution.update-conflict-retry.wait-ms",
    ),
    *_group(
        "Clustering and sorting of append tables by other engines.",
        boolean="clustering.incremental clustering.incremental.optimize-write",
        int="clustering.history-partition.limit sort-compaction.local-sample.magnification "
        "zorder.var-length-contribution",
        duration="clustering.history-partition.idle-to-full-sort",
        text="clustering.columns clustering.incremental.mode clustering.strategy sort-compaction.range-strategy",
    ),
    *_group(
        "Java classes that other engines call after a commit or a tag.",
        text="commit.callback.*.param commit.callbacks tag.callback.*.param tag.callbacks",
    ),
    *_group(
        "Details of commits of other engines.",
        boolean="commit.discard-duplicate-files commit.force-create-snapshot commit.native.enabled overwrite-upgrade "
        "snapshot.ignore-empty-commit",
        int="commit.strict-mode.last-safe-snapshot delete-file.thread-num file-operation.thread-num",
    ),
    *_group(
        "Details of compaction in other engines.",
        boolean="compaction.force-up-level-0 compaction.skip-expired-partitions",
        int="compaction.file-num-limit compaction.offpeak-ratio compaction.offpeak.end.hour "
        "compaction.offpeak.start.hour",
        float="compaction.small-file-ratio",
        text="compaction.bucket-distribution-strategy",
    ),
    *_group(
        "Details of manifests and statistics of other engines.",
        boolean="manifest-sort.enabled manifest.delete-file-drop-stats manifest.merge-optimize.enabled "
        "manifest.sidecar.enabled",
        int="metadata.stats-keep-first-n-columns",
        memory="manifest-sort.max-rewrite-size",
        text="manifest-sort.partition-field metadata.stats-mode.per.level",
    ),
    *_group(
        "Iceberg metadata, which other engines write in addition. It is not written here, so its readers see "
        "the table as those engines left it.",
        boolean="metadata.iceberg.delete-after-commit.enabled metadata.iceberg.glue.skip-archive "
        "metadata.iceberg.hive-skip-update-stats metadata.iceberg.manifest-legacy-version",
        int="metadata.iceberg.compaction.max.file-num metadata.iceberg.compaction.min.file-num "
        "metadata.iceberg.format-version metadata.iceberg.previous-versions-max",
        text="metadata.iceberg.database metadata.iceberg.hadoop-conf-dir metadata.iceberg.hive-client-class "
        "metadata.iceberg.hive-conf-dir metadata.iceberg.manifest-compression metadata.iceberg.storage "
        "metadata.iceberg.storage-location metadata.iceberg.table metadata.iceberg.uri",
    ),
    *_group(
        "Synchronisation with a metastore or catalog service.",
        boolean="metastore.partitioned-table paimon.respect.minmaxsplitsize.enabled",
        int="paimon.split.openfilecost",
        duration="partition.idle-time-to-report-statistic",
        text="format-table.commit-hive-sync-url metastore.tag-to-partition metastore.tag-to-partition.preview",
    ),
    *_group(
        "When and how Flink marks a partition as done.",
        boolean="partition.mark-done.recover-from-state",
        duration="partition.idle-time-to-done partition.time-interval",
        text="partition.mark-done-action.custom.class partition.mark-done-action.http.params "
        "partition.mark-done-action.http.url partition.mark-done-action.mode",
    ),
    *_group(
        "Expiration of partitions in other engines.",
        boolean="end-input.check-partition-expire partition.timestamp-format.strict",
        int="partition.expiration-batch-size",
    ),
    *_group(
        "How external paths are chosen; the paths themselves are refused.",
        text="data-file.external-paths.specific-fs data-file.external-paths.strategy data-file.external-paths.weights",
    ),
    *_group(
        "Names of files that other engines write.",
        boolean="file.suffix.include.compression",
    ),
    *_group(
        "Schema changes in other engines.",
        boolean="add-column-before-partition alter-column-null-to-not-null.disabled auto-create "
        "disable-explicit-type-casting legacy-timestamp-mapping.enabled",
    ),
    *_group(
        "Keep the order of arrival in a bucket of an append table.",
        boolean="bucket-append-ordered",
    ),
    *_group(
        "Details of chained branches, row tracking and data evolution, which are refused.",
        boolean="chain-table.split.key-range-enabled chain-table.streaming.merge-snapshot "
        "data-evolution.compaction.rewrite-row-ids data-evolution.merge-into.file-pruning "
        "data-evolution.merge-into.source-persist data-evolution.row-sidecar.enabled "
        "row-tracking.partition-group-on-commit",
        int="data-evolution.reassign.skip-contiguous-row-count data-evolution.row-sidecar.max-selected-rows",
        float="data-evolution.row-sidecar.max-selection-ratio",
        memory="data-evolution.row-id-conflict-rewrite.max-size",
        text="chain-table.chain-partition-keys",
    ),
    *_group(
        "Details of deletion vectors.",
        boolean="deletion-vectors.modifiable",
        memory="deletion-vector.index-file.target-size",
    ),
    *_group(
        "Details of buckets that are assigned later.",
        boolean="postpone.batch-write-fixed-bucket",
        int="postpone.batch-write-fixed-bucket.max-parallelism postpone.default-bucket-num "
        "postpone.target-row-num-per-bucket",
        memory="postpone.target-size-per-bucket",
    ),
    *_group(
        "Search indexes over whole tables, which are neither written nor read here.",
        boolean="global-index.enabled vector-search.distribute.enabled",
        int="btree-index.build.max-parallelism btree-index.compression-level btree-index.records-per-range "
        "global-index.build.max-parallelism global-index.build.max-shard global-index.row-count-per-shard "
        "global-index.thread-num lumina.diskann.build.ef_construction lumina.diskann.build.neighbor_count "
        "lumina.diskann.build.thread_count lumina.diskann.search.beam_width lumina.diskann.search.list_size "
        "lumina.encoding.pq.m lumina.index.dimension lumina.search.parallel_number "
        "vector-search.lateral-join.batch-size vector-search.lateral-join.parallelism",
        float="btree-index.high-priority-pool-ratio lumina.pretrain.sample_ratio",
        memory="btree-index.block-size btree-index.cache-size btree-index.fallback-scan-max-size",
        text="btree-index.compression full-text-index.search-mode global-index.column-update-action "
        "global-index.external-path global-index.search-mode lumina.distance.metric lumina.encoding.type "
        "lumina.index.type scalar-index.search-mode vector-index.search-mode",
    ),
    *_group(
        "Columns of large objects and vectors.",
        boolean="blob-as-descriptor blob-compaction.enabled blob-view.resolve.enabled "
        "blob-write-null-on-fetch-failure blob-write-null-on-missing-file blob.split-by-file-size",
        memory="blob.copy-buffer-size blob.target-file-size vector.target-file-size",
        text="blob-descriptor-field blob-descriptor.* blob-external-storage-field blob-external-storage-path "
        "blob-field blob-view-field blob.stored-descriptor-fields vector-field vector.file.format "
        "video-frame-field",
    ),
    *_group(
        "How variants are stored in columns of their own.",
        boolean="variant.inferShreddingSchema",
        int="variant.shredding.adaptive.maxInferBufferRow variant.shredding.maxInferBufferRow "
        "variant.shredding.maxSchemaDepth variant.shredding.maxSchemaWidth",
        float="variant.shredding.adaptive.retentionRatio variant.shredding.minFieldCardinalityRatio",
        text="parquet.variant.shreddingSchema variant.shredding.inferenceMode variant.shreddingSchema",
    ),
    *_group(
        "What the ORC, Parquet, CSV, JSON and text writers of other engines are given.",
        boolean="csv.include-header json.ignore-parse-errors orc.timestamp-ltz.legacy.type",
        int="orc.column.encoding.direct orc.write.batch-size",
        float="orc.dictionary.key.threshold",
        text="avro.* csv.* csv.escape-character csv.field-delimiter csv.line-delimiter csv.mode csv.null-literal "
        "csv.quote-character field-delimiter json.* json.line-delimiter json.map-null-key-literal "
        "json.map-null-key-mode mosaic.* orc.* parquet.* parquet.enable.dictionary text.* text.line-delimiter",
    ),
    *_group(
        "Tables without Paimon's metadata.",
        boolean="format-table.partition-path-only-value",
        int="format-table.scan.list-parallelism",
        text="format-table.file.compression format-table.implementation",
    ),
    *_group(
        "How other engines refresh the table.",
        text="materialized-table.definition-query materialized-table.interval-freshness "
        "materialized-table.interval-freshness.time-unit materialized-table.logical-refresh-mode "
        "materialized-table.refresh-handler-bytes materialized-table.refresh-handler-description "
        "materialized-table.refresh-mode materialized-table.refresh-status",
    ),
    *_group(
        "How other engines wait until rows are visible.",
        boolean="visibility-callback.enabled",
        duration="visibility-callback.check-interval visibility-callback.timeout",
    ),
    *_group(
        "Defaults of columns as versions before 1.3 name them; the default of the column itself replaced them.",
        text="fields.*.default-value",
    ),
    *_group(
        "Where the table is, and what other engines show of it.",
        text="comment connector owner path provider",
    ),
)
