import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.index.HashBucketAssigner;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.RowPartitionKeyExtractor;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.system.AuditLogTable;
import org.apache.paimon.tag.Tag;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.Pair;

/**
 * Java Paimon as a judge. One command per line on stdin, fields separated by tabs; one line of answer: "ok …" or
 * "error …".
 *
 * <pre>
 *   read     path  out  [snapshot]   rows as JSON lines into the file out; its first line names columns and types;
 *                                    instead of a snapshot any option of a scan, such as scan.tag-name=t
 *   audit    path  out  [snapshot]   the same of the table's audit log
 *   create   path  columns  keys  partitions  options
 *                                    lists separated by commas, options (k=v) by the character 1; columns as name TYPE
 *   compact  path  [option]          full compaction of every bucket
 *   remove   path  from              deletes rows of a table without a key, by deletion vectors: those whose first
 *                                    column has a value that some row of the table `from` has there
 *   copy     path  from  [option]    writes all rows of the table `from` into the table `path`
 *   delete   path  from              deletes the keys of all rows of the table `from` from the table `path`
 *   expire   path  count             leaves so many snapshots; says how many went
 *   tags     path                    name, snapshot and seconds of each tag
 *   statistics path                  as JSON
 *   …                                of new versions what TableKeeper does
 * </pre>
 *
 * A value is written so that no two values look alike and no library has to agree on a text: numbers of floating point
 * by their bits, decimals by all their digits, times in microseconds, bytes in hexadecimal, maps as lists of pairs.
 */
public final class PaimonServer {
    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] command = line.split("\t", -1);
            String answer;
            try {
                answer = "ok " + execute(command);
            } catch (Throwable error) {
                StringBuilder text = new StringBuilder("error");
                for (Throwable one = error; one != null; one = one.getCause()) {
                    text.append(' ').append(one.getClass().getSimpleName()).append(": ").append(one.getMessage());
                }
                answer = text.toString().replace('\n', ' ').replace('\r', ' ');
                error.printStackTrace();
            }
            answers.println(answer);
            answers.flush();
        }
    }

    private static String execute(String[] command) throws Exception {
        switch (command[0]) {
            case "read":
                return "" + read(open(command[1], option(command)), command[2]);
            case "audit":
                return "" + read(new AuditLogTable(open(command[1], option(command))), command[2]);
            case "expire":
                return "" + expire(command[1], Integer.parseInt(command[2]));
            case "tags":
                return tags(command[1]);
            case "statistics":
                return open(command[1]).statistics().map(Object::toString).orElse("").replace('\n', ' ');
            case "create":
                return create(command);
            case "compact":
                return "" + compact(open(command[1], command.length > 2 ? command[2] : null));
            case "remove":
                // Of another file, because old versions of Paimon lack the classes for it.
                return "" + Class.forName("RowRemover").getMethod("remove", FileStoreTable.class, FileStoreTable.class)
                        .invoke(null, open(command[1]), open(command[2]));
            case "copy":
                return "" + copy(open(command[1], option(command)), command[2], false);
            case "delete":
                return "" + copy(open(command[1], option(command)), command[2], true);
            default:
                return (String) Class.forName("TableKeeper").getMethod("keep", String[].class)
                        .invoke(null, (Object) command);
        }
    }

    private static String create(String[] command) throws Exception {
        Schema.Builder schema = Schema.newBuilder();
        for (String column : command[2].split(",(?![^(]*\\))")) {
            int space = column.indexOf(' ');
            schema.column(column.substring(0, space),
                    DataTypeJsonParser.parseAtomicTypeSQLString(column.substring(space + 1)));
        }
        schema.primaryKey(list(command[3]));
        schema.partitionKeys(list(command[4]));
        for (String option : command[5].isEmpty() ? new String[0] : command[5].split("\u0001")) {
            int equals = option.indexOf('=');
            schema.option(option.substring(0, equals), option.substring(equals + 1));
        }
        new SchemaManager(LocalFileIO.create(), new Path(command[1])).createTable(schema.build());
        return "";
    }

    private static List<String> list(String text) {
        return text.isEmpty() ? new ArrayList<>() : Arrays.asList(text.split(","));
    }

    /** New versions of Paimon want to know one thing more: the number of buckets at most. */
    private static HashBucketAssigner assigner(FileStoreTable table) throws Exception {
        Constructor<?> one = HashBucketAssigner.class.getConstructors()[0];
        List<Object> given = new ArrayList<>(Arrays.asList(table.snapshotManager(), "java",
                table.store().newIndexFileHandler(), 1, 1, 0, table.coreOptions().dynamicBucketTargetRowNum(), -1));
        return (HashBucketAssigner) one.newInstance(given.subList(0, one.getParameterCount()).toArray());
    }

    private static FileStoreTable open(String path) {
        return FileStoreTableFactory.create(LocalFileIO.create(), new Path(path));
    }

    private static String option(String[] command) {
        return command.length > 3 ? command[3] : null;
    }

    private static FileStoreTable open(String path, String option) {
        if (option == null) {
            return open(path);
        }
        Map<String, String> options = new HashMap<>();
        int equals = option.indexOf('=');
        options.put(equals < 0 ? "scan.snapshot-id" : option.substring(0, equals), option.substring(equals + 1));
        return open(path).copy(options);
    }

    private static int expire(String path, int count) {
        ExpireConfig config = ExpireConfig.builder().snapshotRetainMin(count).snapshotRetainMax(count)
                .snapshotTimeRetain(Duration.ZERO).build();
        return open(path).newExpireSnapshots().config(config).expire();
    }

    private static String tags(String path) {
        StringBuilder text = new StringBuilder();
        for (Pair<Tag, String> one : open(path).tagManager().tagObjects()) {
            Duration kept = one.getLeft().getTagTimeRetained();
            text.append(text.length() > 0 ? "," : "").append(one.getRight()).append(':').append(one.getLeft().id())
                    .append(':').append(kept == null ? "-" : kept.getSeconds());
        }
        return text.toString();
    }

    private static long read(Table table, String out) throws Exception {
        List<DataField> fields = table.rowType().getFields();
        ReadBuilder builder = table.newReadBuilder();
        List<Split> splits = builder.newScan().plan().splits();
        long[] count = {0};
        try (BufferedWriter writer = Files.newBufferedWriter(Paths.get(out));
                RecordReader<InternalRow> reader = builder.newRead().createReader(splits)) {
            StringBuilder head = new StringBuilder("[");
            for (DataField field : fields) {
                head.append(head.length() > 1 ? "," : "").append('[').append(quoted(field.name())).append(',')
                        .append(quoted(field.type().toString())).append(']');
            }
            writer.write(head.append("]\n").toString());
            reader.forEachRemaining(row -> {
                StringBuilder text = new StringBuilder();
                appendRow(text, row, fields);
                try {
                    writer.write(text.append('\n').toString());
                } catch (java.io.IOException error) {
                    throw new java.io.UncheckedIOException(error);
                }
                count[0]++;
            });
        }
        return count[0];
    }

    private static long compact(FileStoreTable table) throws Exception {
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        int buckets = 0;
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
            List<String> done = new ArrayList<>();
            for (Split split : table.newReadBuilder().newScan().plan().splits()) {
                DataSplit data = (DataSplit) split;
                BinaryRow partition = data.partition();
                if (done.contains(partition.hashCode() + "/" + data.bucket())) {
                    continue;
                }
                done.add(partition.hashCode() + "/" + data.bucket());
                write.compact(partition, data.bucket(), true);
                buckets++;
            }
            commit.commit(write.prepareCommit());
        }
        return buckets;
    }

    private static long copy(FileStoreTable table, String from, boolean asDeletes) throws Exception {
        FileStoreTable source = open(from);
        ReadBuilder reading = source.newReadBuilder();
        List<DataField> fields = source.rowType().getFields();
        InternalRow.FieldGetter[] getters = new InternalRow.FieldGetter[fields.size()];
        for (int i = 0; i < getters.length; i++) {
            getters[i] = InternalRow.createFieldGetter(fields.get(i).type(), i);
        }
        // Dynamic buckets: its index says where keys are, and an assigner where new ones go.
        boolean dynamic = table.bucketMode() == BucketMode.HASH_DYNAMIC;
        HashBucketAssigner assigner = dynamic ? assigner(table) : null;
        RowPartitionKeyExtractor keys = dynamic ? new RowPartitionKeyExtractor(table.schema()) : null;
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        long[] count = {0};
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit();
                RecordReader<InternalRow> reader =
                        reading.newRead().createReader(reading.newScan().plan().splits())) {
            write.withIOManager(IOManager.create(System.getProperty("java.io.tmpdir")));
            reader.forEachRemaining(row -> {
                GenericRow copy = new GenericRow(getters.length);
                for (int i = 0; i < getters.length; i++) {
                    copy.setField(i, getters[i].getFieldOrNull(row));
                }
                if (asDeletes) {
                    copy.setRowKind(org.apache.paimon.types.RowKind.DELETE);
                }
                try {
                    if (dynamic) {
                        int hash = keys.trimmedPrimaryKey(copy).hashCode();
                        write.write(copy, assigner.assign(keys.partition(copy), hash));
                    } else {
                        write.write(copy);
                    }
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
                count[0]++;
            });
            commit.commit(write.prepareCommit());
        }
        return count[0];
    }

    private static void appendRow(StringBuilder text, InternalRow row, List<DataField> fields) {
        text.append('[');
        for (int i = 0; i < fields.size(); i++) {
            text.append(i > 0 ? "," : "");
            DataType type = fields.get(i).type();
            append(text, InternalRow.createFieldGetter(type, i).getFieldOrNull(row), type);
        }
        text.append(']');
    }

    private static void appendArray(StringBuilder text, InternalArray array, DataType type) {
        InternalArray.ElementGetter getter = InternalArray.createElementGetter(type);
        text.append('[');
        for (int i = 0; i < array.size(); i++) {
            text.append(i > 0 ? "," : "");
            append(text, getter.getElementOrNull(array, i), type);
        }
        text.append(']');
    }

    private static void append(StringBuilder text, Object value, DataType type) {
        if (value == null) {
            text.append("null");
            return;
        }
        switch (type.getTypeRoot()) {
            case BOOLEAN:
            case TINYINT:
            case SMALLINT:
            case INTEGER:
            case BIGINT:
            case DATE:
            case TIME_WITHOUT_TIME_ZONE:
                text.append(value);
                break;
            case FLOAT:
                text.append(Double.doubleToLongBits((double) (Float) value));
                break;
            case DOUBLE:
                text.append(Double.doubleToLongBits((Double) value));
                break;
            case DECIMAL:
                text.append(quoted(((org.apache.paimon.data.Decimal) value).toBigDecimal()
                        .setScale(((DecimalType) type).getScale()).toPlainString()));
                break;
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                Timestamp moment = (Timestamp) value;
                text.append(Math.addExact(Math.multiplyExact(moment.getMillisecond(), 1000L),
                        moment.getNanoOfMillisecond() / 1000L));
                break;
            case BINARY:
            case VARBINARY:
                StringBuilder hexadecimal = new StringBuilder();
                for (byte one : (byte[]) value) {
                    hexadecimal.append(String.format("%02x", one));
                }
                text.append(quoted(hexadecimal.toString()));
                break;
            case ARRAY:
                appendArray(text, (InternalArray) value, ((ArrayType) type).getElementType());
                break;
            case MAP:
                text.append('[');
                appendArray(text, ((InternalMap) value).keyArray(), ((MapType) type).getKeyType());
                text.append(',');
                appendArray(text, ((InternalMap) value).valueArray(), ((MapType) type).getValueType());
                text.append(']');
                break;
            case ROW:
                appendRow(text, (InternalRow) value, ((RowType) type).getFields());
                break;
            default:
                text.append(quoted(value.toString()));
        }
    }

    private static String quoted(String value) {
        StringBuilder text = new StringBuilder("\"");
        for (char one : value.toCharArray()) {
            if (one < ' ' || one == '"' || one == '\\' || one > '~') {
                text.append(String.format("\\u%04x", (int) one));
            } else {
                text.append(one);
            }
        }
        return text.append('"').toString();
    }
}
