import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.deletionvectors.Bitmap64DeletionVector;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVector;
import org.apache.paimon.deletionvectors.append.BaseAppendDeleteFileMaintainer;
import org.apache.paimon.index.IndexFileHandler;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.reader.FileRecordIterator;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;

/** Deletes rows of tables without a key as Spark and Flink do: by a deletion vector for each file with some of them. */
public final class RowRemover {
    private RowRemover() {}

    /** Deletes rows whose first column has a value that a row of `from` has there. Returns how many went. */
    public static long remove(FileStoreTable table, FileStoreTable from) throws Exception {
        Set<Object> wanted = new HashSet<>();
        InternalRow.FieldGetter theirs = InternalRow.createFieldGetter(from.rowType().getTypeAt(0), 0);
        ReadBuilder reading = from.newReadBuilder();
        try (RecordReader<InternalRow> rows = reading.newRead().createReader(reading.newScan().plan().splits())) {
            rows.forEachRemaining(row -> wanted.add(theirs.getFieldOrNull(row)));
        }
        InternalRow.FieldGetter own = InternalRow.createFieldGetter(table.rowType().getTypeAt(0), 0);
        boolean wide = table.coreOptions().deletionVectorBitmap64();
        IndexFileHandler indexes = table.store().newIndexFileHandler();
        Snapshot latest = table.snapshotManager().latestSnapshot();
        Map<String, BaseAppendDeleteFileMaintainer> maintainers = new HashMap<>();
        ReadBuilder builder = table.newReadBuilder();
        long count = 0;
        for (Split split : builder.newScan().plan().splits()) {
            DataSplit data = (DataSplit) split;
            Map<String, DeletionVector> found = new HashMap<>();
            try (RecordReader<InternalRow> rows = builder.newRead().createReader(split)) {
                for (RecordReader.RecordIterator<InternalRow> batch = rows.readBatch(); batch != null;
                        batch = rows.readBatch()) {
                    FileRecordIterator<InternalRow> file = (FileRecordIterator<InternalRow>) batch;
                    for (InternalRow row = file.next(); row != null; row = file.next()) {
                        if (wanted.contains(own.getFieldOrNull(row))) {
                            found.computeIfAbsent(file.filePath().getName(),
                                    name -> wide ? new Bitmap64DeletionVector() : new BitmapDeletionVector())
                                    .delete(file.returnedPosition());
                            count++;
                        }
                    }
                    batch.releaseBatch();
                }
            }
            boolean bucketed = table.bucketMode() != BucketMode.BUCKET_UNAWARE;
            BaseAppendDeleteFileMaintainer maintainer = maintainers.computeIfAbsent(
                    data.partition().hashCode() + "/" + data.bucket(),
                    key -> bucketed
                            ? BaseAppendDeleteFileMaintainer.forBucketedAppend(
                                    indexes, latest, data.partition(), data.bucket())
                            : BaseAppendDeleteFileMaintainer.forUnawareAppend(indexes, latest, data.partition()));
            found.forEach(maintainer::notifyNewDeletionVector);
        }
        List<CommitMessage> messages = new ArrayList<>();
        for (BaseAppendDeleteFileMaintainer maintainer : maintainers.values()) {
            List<IndexFileMeta> added = new ArrayList<>();
            List<IndexFileMeta> removed = new ArrayList<>();
            for (IndexManifestEntry entry : maintainer.persist()) {
                (entry.kind() == FileKind.ADD ? added : removed).add(entry.indexFile());
            }
            messages.add(new CommitMessageImpl(
                    maintainer.getPartition(), maintainer.getBucket(), table.coreOptions().bucket(),
                    new DataIncrement(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), added, removed),
                    CompactIncrement.emptyIncrement()));
        }
        try (BatchTableCommit commit = table.newBatchWriteBuilder().newCommit()) {
            commit.commit(messages);
        }
        return count;
    }
}
