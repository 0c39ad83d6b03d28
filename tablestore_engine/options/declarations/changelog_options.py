"""Options of changes: those of a keyed table, which commits write to files of their own, and how streams read."""

from __future__ import annotations

from tablestore_engine.options.declarations.needs import (
    CHANGELOG,
    CHANGELOG_OR_LOG,
    COMPARED_CHANGELOG,
    KEY,
    LOOKUP,
    ROWS_LEFT_OUT,
)
from tablestore_engine.options.option import Option
from tablestore_engine.options.option_type import BOOLEAN, COLUMNS, DURATION, ENUM, FILE_NAME, INT, MEMORY, TEXT


class ChangelogOptions:
    """Which changes are recorded, and how streams read them."""

    __slots__ = ()

    changelog_producer = Option(
        "changelog-producer",
        ENUM,
        "none",
        "Which changes the commits of a table with a key write to changelog files: none; input (the rows of each write "
        "as they came); lookup (what each write changed, for which the state before is looked up); "
        "full-compaction (what each full compaction changed). Changes can be read without, too.",
        choices=("none", "input", "lookup", "full-compaction"),
    )
    change_tracking = Option(
        "change-tracking",
        BOOLEAN,
        True,
        "Write the changes that `changelog-producer` asks for. In a hint of INSERT, for its rows alone; refused there "
        "with deletion vectors and the producer lookup.",
        ours=True,
        needs=CHANGELOG_OR_LOG,
    )
    force_lookup = Option(
        "force-lookup",
        BOOLEAN,
        False,
        "A record above level 0 holds what all older ones of its key hold, as with `changelog-producer` = lookup; "
        "compactions here are full ones then, unless the newest record of a key is its row.",
        needs=KEY,
    )
    row_deduplicate = Option(
        "changelog-producer.row-deduplicate",
        BOOLEAN,
        True,
        "The producers lookup and full-compaction leave out rows that were written again as they were; Paimon's "
        "default is false.",
        needs=COMPARED_CHANGELOG,
    )
    row_deduplicate_ignore_fields = Option(
        "changelog-producer.row-deduplicate-ignore-fields",
        COLUMNS,
        (),
        "Columns in which such a row may differ: a change of them alone is not recorded.",
        needs=ROWS_LEFT_OUT,
    )
    lookup_cache_max_memory_size = Option(
        "lookup.cache-max-memory-size",
        MEMORY,
        256 << 20,
        "Memory of a process in which the producer lookup holds data files that many keys are looked up in, of all "
        "tables together; 0 holds none.",
        needs=LOOKUP,
    )
    changelog_num_retained_min = Option(
        "changelog.num-retained.min",
        INT,
        None,
        "Number of commits whose changelog is always kept; when not set, as many as snapshots. A changelog that is "
        "kept longer than its snapshot lives on in the folder changelog/.",
        minimum=1,
        needs=CHANGELOG,
    )
    changelog_num_retained_max = Option(
        "changelog.num-retained.max",
        INT,
        None,
        "Largest number of commits whose changelog is kept; when not set, as of snapshots.",
        minimum=1,
        needs=CHANGELOG,
    )
    changelog_time_retained_millis = Option(
        "changelog.time-retained",
        DURATION,
        None,
        "Age until which the changelog of a commit is kept; when not set, as of snapshots.",
        needs=CHANGELOG,
    )
    changelog_file_prefix = Option(
        "changelog-file.prefix",
        FILE_NAME,
        "changelog-",
        "First part of the names of changelog files.",
        needs=CHANGELOG,
    )
    consumer_id = Option(
        "consumer-id",
        TEXT,
        None,
        "Name under which the table notes how far a stream has read it: unread changes do not expire, and a new "
        "stream of that name goes on there. Better an option of the stream than of the table.",
    )
    consumer_ignore_progress = Option(
        "consumer.ignore-progress",
        BOOLEAN,
        False,
        "Begin a new stream as `scan.mode` says, even if its consumer has read before.",
    )
    read_stream_most_files = Option(
        "read.stream.maxFilesPerTrigger", INT, None, "Files whose changes a batch of a stream reads at most.", minimum=1
    )
    read_stream_most_rows = Option(
        "read.stream.maxRowsPerTrigger",
        INT,
        None,
        "Rows in the files whose changes a batch of a stream reads at most; at least one file, or one bucket where "
        "rows merge, is read.",
        minimum=1,
    )
