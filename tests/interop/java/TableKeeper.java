import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.operation.LocalOrphanFilesClean;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.schema.SchemaValidation;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.StreamTableScan;
import org.apache.paimon.table.system.SystemTableLoader;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.JsonSerdeUtil;
import org.apache.paimon.utils.TypeUtils;

/**
 * What else becomes of tables in new versions of Paimon.
 *
 * <pre>
 *   define   path  file              makes a table of a schema as it is stored, from a file; nested types and all
 *   alter    path  change …          add column type [first | after other]; rename column name; drop column;
 *                                    type column type; default column text; move column first | after other;
 *                                    nullable column true|false; set key value; unset key. A column inside of another
 *                                    one is named with dots; a type that is nested is JSON.
 *   branch   path  name [tag]
 *   tag      path  name [snapshot]
 *   rollback path  snapshot
 *   lookup   path  column value      reads by column = value, and says how many rows came and how many fit
 *   orphans  path                    removes all orphans, however young; says how many
 *   buckets  path                    the texts of the partitions that `$buckets` shows, as a list
 *   stream   path  snapshot          reads the changes from the commit of a snapshot on, as a stream does, up to the
 *                                    newest; says how many rows there are of each kind, in their order
 * </pre>
 */
public final class TableKeeper {
    private TableKeeper() {}

    public static String keep(String[] command) throws Exception {
        Path path = new Path(command[1]);
        if (command[0].equals("define")) {
            String text = new String(Files.readAllBytes(Paths.get(command[2])), StandardCharsets.UTF_8);
            TableSchema schema = JsonSerdeUtil.fromJson(text, TableSchema.class);
            SchemaValidation.validateTableSchema(schema);
            new SchemaManager(LocalFileIO.create(), path).commit(schema);
            return "";
        }
        if (command[0].equals("alter")) {
            new SchemaManager(LocalFileIO.create(), path).commitChanges(change(command));
            return "";
        }
        FileStoreTable table = FileStoreTableFactory.create(LocalFileIO.create(), path);
        switch (command[0]) {
            case "branch":
                if (command.length > 3) {
                    table.createBranch(command[2], command[3]);
                } else {
                    table.createBranch(command[2]);
                }
                return "";
            case "tag":
                if (command.length > 3) {
                    table.createTag(command[2], Long.parseLong(command[3]));
                } else {
                    table.createTag(command[2]);
                }
                return "";
            case "rollback":
                table.rollbackTo(Long.parseLong(command[2]));
                return "";
            case "lookup":
                return lookup(table, command[2], command[3]);
            case "buckets":
                return buckets(SystemTableLoader.load("buckets", table).newReadBuilder());
            case "orphans":
                return "" + new LocalOrphanFilesClean(table, System.currentTimeMillis() + 60_000).clean()
                        .getDeletedFileCount();
            case "stream":
                return stream(table, command[2]);
            default:
                throw new IllegalArgumentException("unknown command " + command[0]);
        }
    }

    private static String buckets(ReadBuilder builder) throws Exception {
        List<String> texts = new ArrayList<>();
        try (RecordReader<InternalRow> rows = builder.newRead().createReader(builder.newScan().plan())) {
            rows.forEachRemaining(row -> texts.add(row.getString(0).toString()));
        }
        return new ObjectMapper().writeValueAsString(texts);
    }

    private static String lookup(FileStoreTable table, String column, String text) throws Exception {
        RowType rowType = table.rowType();
        int at = rowType.getFieldIndex(column);
        Object value = TypeUtils.castFromString(text, rowType.getTypeAt(at));
        InternalRow.FieldGetter getter = InternalRow.createFieldGetter(rowType.getTypeAt(at), at);
        ReadBuilder builder = table.newReadBuilder().withFilter(new PredicateBuilder(rowType).equal(at, value));
        long[] counts = new long[2];
        try (RecordReader<InternalRow> rows = builder.newRead().createReader(builder.newScan().plan().splits())) {
            rows.forEachRemaining(row -> {
                counts[0]++;
                counts[1] += value.equals(getter.getFieldOrNull(row)) ? 1 : 0;
            });
        }
        return counts[0] + " " + counts[1];
    }

    private static String stream(FileStoreTable table, String snapshot) throws Exception {
        Map<String, String> options = new HashMap<>();
        options.put("scan.mode", "from-snapshot");
        options.put("scan.snapshot-id", snapshot);
        ReadBuilder builder = table.copy(options).newReadBuilder();
        StreamTableScan scan = builder.newStreamScan();
        long latest = table.latestSnapshot().get().id();
        int[] counts = new int[4];
        // The first plan may only say where the stream begins.
        for (int plans = 0; plans == 0 || (scan.checkpoint() != null && scan.checkpoint() <= latest); plans++) {
            if (plans > 10 * latest) {
                throw new IllegalStateException("the stream waits for commit " + scan.checkpoint());
            }
            try (RecordReader<InternalRow> rows = builder.newRead().createReader(scan.plan().splits())) {
                rows.forEachRemaining(row -> counts[row.getRowKind().toByteValue()]++);
            }
        }
        return counts[0] + " " + counts[1] + " " + counts[2] + " " + counts[3];
    }

    private static SchemaChange change(String[] command) throws Exception {
        String[] column = command[3].split("\\.");
        switch (command[2]) {
            case "add":
                return SchemaChange.addColumn(column, type(command[4]), null,
                        command.length > 5 ? move(column[column.length - 1], command, 5) : null);
            case "rename":
                return SchemaChange.renameColumn(column, command[4]);
            case "drop":
                return SchemaChange.dropColumn(column);
            case "type":
                return SchemaChange.updateColumnType(column, type(command[4]), true);
            case "default":
                return SchemaChange.updateColumnDefaultValue(column, command[4]);
            case "nullable":
                return SchemaChange.updateColumnNullability(column, Boolean.parseBoolean(command[4]));
            case "move":
                return SchemaChange.updateColumnPosition(move(command[3], command, 4));
            case "set":
                return SchemaChange.setOption(command[3], command[4]);
            case "unset":
                return SchemaChange.removeOption(command[3]);
            default:
                throw new IllegalArgumentException("unknown change " + command[2]);
        }
    }

    private static SchemaChange.Move move(String column, String[] command, int at) {
        return command[at].equals("first") ? SchemaChange.Move.first(column)
                : SchemaChange.Move.after(column, command[at + 1]);
    }

    private static DataType type(String text) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        return DataTypeJsonParser.parseDataType(
                text.startsWith("{") ? mapper.readTree(text) : mapper.valueToTree(text));
    }
}
