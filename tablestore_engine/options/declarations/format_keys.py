"""Names in the families `avro.*`, `orc.*` and `parquet.*`, as Paimon 1.4, ORC 2.3 and Parquet 1.17 define them.

They show which key a misspelt one was meant to be. A family takes other names, too: later versions define more.
"""

from __future__ import annotations

_NAMES = {
    "avro": "codec row-name-mapping",
    "orc": "base.delta.ratio block.padding block.padding.tolerance block.size bloom.filter.columns bloom.filter.fpp "
    "bloom.filter.ignore.non-utf8 bloom.filter.write.version buffer.size.enforce column.encoding.direct "
    "compress compress.lz4.impl compress.size compress.snappy.impl compression.strategy compression.zstd.impl "
    "compression.zstd.level compression.zstd.strategy compression.zstd.windowlog create.index "
    "default.bloom.fpp dictionary.early.check dictionary.implementation dictionary.key.threshold "
    "dictionary.max.size.bytes encoding.strategy encrypt filter.plugin filter.plugin.allowlist "
    "filter.use.selected force.positional.evolution force.positional.evolution.level include.columns "
    "key.provider kryo.sarg kryo.sarg.buffer mask max.disk.range.chunk.limit max.file.length memory.pool "
    "min.disk.seek.size min.disk.seek.size.tolerance overwrite.output.file proleptic.gregorian "
    "proleptic.gregorian.default row.batch.size row.child.limit row.index.stride rows.between.memory.checks "
    "sarg.column.names sarg.to.filter schema.evolution.case.sensitive skip.corrupt.data stripe.row.count "
    "stripe.size stripe.size.check.ratio tolerate.missing.schema use.zerocopy write.format "
    "write.variable.length.blocks",
    "parquet": "block.row.count.limit block.size bloom.filter.adaptive.enabled bloom.filter.candidates.number "
    "bloom.filter.enabled bloom.filter.expected.ndv bloom.filter.fpp bloom.filter.max.bytes "
    "column.statistics.enabled columnindex.truncate.length compression "
    "compression.codec.zstd.bufferPool.enabled compression.codec.zstd.level compression.codec.zstd.workers "
    "crypto.factory.class decrypt.off-heap.buffer.enabled dictionary.page.size enable.bytestreamsplit "
    "enable.dictionary enable.summary-metadata encryption.algorithm encryption.cache.lifetime.seconds "
    "encryption.column.keys encryption.complete.columns encryption.data.key.length.bits "
    "encryption.double.wrapping encryption.footer.key encryption.kek.length.bits encryption.key.access.token "
    "encryption.key.material.store.internally encryption.kms.client.class encryption.kms.instance.id "
    "encryption.kms.instance.url encryption.plaintext.footer encryption.uniform.key filter.bloom.enabled "
    "filter.columnindex.enabled filter.dictionary.enabled filter.record-level.enabled filter.stats.enabled "
    "hadoop.vectored.io.enabled memory.min.chunk.size memory.pool.ratio metadata.read.parallelism "
    "page.row.count.limit page.size page.size.check.estimate page.size.row.check.max page.size.row.check.min "
    "page.value.count.threshold page.verify-checksum.enabled page.write-checksum.enabled read.allocation.size "
    "read.bad.record.threshold read.filter read.schema read.support.class size.statistics.enabled split.files "
    "statistics.truncate.length strict.typing strings.signed-min-max.enabled summary.metadata.level "
    "task.side.metadata thrift.string.size.limit validation write.support.class writer.max-padding "
    "writer.version",
}
FORMAT_KEYS = frozenset(f"{family}.{name}" for family, names in _NAMES.items() for name in names.split())
"""The keys that are no options of their own, but belong to a family."""
