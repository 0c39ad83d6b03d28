"""The wanted configuration of a session, and the Spark settings that follow from it.

Vocabulary: the *wish* is a ``SessionConfig``; the *machine* is how many cores and how much memory there are;
the *settings* are Spark's own ``key: value`` pairs. Invariant: deciding settings is pure, and a setting
that the user made is never overridden: ours fill gaps only.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

GIB = 1 << 30
ENGINE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""The folder of this engine's code."""

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
DRIVER_MEMORY = "spark.driver.memory"
PAGE_SIZE = "spark.buffer.pageSize"
WAREHOUSE = "spark.sql.warehouse.dir"
SCRATCH = "dbt-tablestore-"
"""First part of the name of the folder in which Spark keeps the tables of its own catalog, until the process ends."""

# Settings whose work is done by spark-submit before the driver starts: fetching jars, unpacking archives,
# logging in, extending the class path. With one of these, spark-submit has to start the JVM.
_SUBMIT_PREFIXES = (
    "spark.jars",
    "spark.files",
    "spark.archives",
    "spark.submit.",
    "spark.kerberos.",
    "spark.driver.extraClassPath",
    "spark.driver.extraLibraryPath",
    "spark.driver.defaultJavaOptions",
    "spark.driver.userClassPathFirst",
)


@dataclass(frozen=True)
class SessionConfig:
    """How to get a Spark session.

    Attributes:
        master: Spark master URL; ``local[*]`` (all cores of this machine) when neither it nor ``remote`` is set.
        remote: Spark Connect URL, ``sc://host:port``; excludes ``master``.
        app_name: the name that Spark's user interface and logs show.
        spark_config: any Spark settings; they win over the defaults of this module.
        class_data_sharing: start the JVM from an archive of classes that an earlier run left in the cache.
        cache_dir: where archive and logs live; ``None`` = ``$XDG_CACHE_HOME/dbt-tablestore``.
        log_to_terminal: leave Spark's log on stderr instead of in a file of the cache: for debugging.
        shared: a warehouse folder whose server, in a process of its own, is used and if need be started; excludes
            ``remote``.
        idle_minutes: how long a server that this process starts stays without clients.
        any_settings: a running server of the warehouse will do, also one that was started with other settings.
    """

    master: str | None = None
    remote: str | None = None
    app_name: str = "dbt-tablestore"
    spark_config: Mapping[str, str] = field(default_factory=dict)
    class_data_sharing: bool = True
    cache_dir: str | None = None
    log_to_terminal: bool = False
    shared: str | None = None
    idle_minutes: float = 30
    any_settings: bool = False

    @property
    def effective_master(self) -> str:
        """The master URL after defaults."""
        return self.master or self.spark_config.get("spark.master") or "local[*]"

    @property
    def is_local(self) -> bool:
        """Whether driver and executors are one process on this machine."""
        return self.remote is None and re.match(r"local(\[|$)", self.effective_master) is not None

    @property
    def needs_spark_submit(self) -> bool:
        """Whether spark-submit has something to do before the driver starts."""
        return not self.is_local or any(key.startswith(_SUBMIT_PREFIXES) for key in self.spark_config)


@dataclass(frozen=True)
class Machine:
    """The cores of this machine, and its memory in bytes."""

    cores: int
    memory: int

    @classmethod
    def here(cls) -> Machine:
        """This machine, or the share of it that its container may use."""
        affinity = getattr(os, "sched_getaffinity", None)
        cores = len(affinity(0)) if affinity else os.cpu_count() or 1
        return cls(cores=cores, memory=_memory())


def _memory() -> int:
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 8 * GIB
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path, encoding="ascii") as limit:
                memory = min(memory, int(limit.read()))
        except (OSError, ValueError):  # no such controller, or "max"
            continue
    return memory


# Settings that the engine's own plans rely on. Runtime settings: a session that the user brings gets them too.
REQUIRED_SETTINGS: Mapping[str, str] = {
    # Times of day are a type of Spark 4.1 and later, which they do not have unless asked.
    "spark.sql.timeType.enabled": "true",
    # Constants go to Spark's readers of files as values of Java. Without it, those are of a calendar that has no day
    # from 1582-10-05 to 1582-10-14, so that a comparison with one of these days loses rows.
    "spark.sql.datetime.java8API.enabled": "true",
}

_EVERYWHERE: Mapping[str, str] = {
    **REQUIRED_SETTINGS,
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",  # the warehouse directory is the catalog: no Hive, no Derby
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Up to this many values of an IN skip pages of a file; of more only the least and the greatest do.
    "spark.sql.parquet.pushdown.inFilterThreshold": "100",
    # Expressions that occur twice are computed once, but not before the condition that guards them: `b <> 0 AND
    # a / b > 2` divides by no zero, also where another condition of the query divides, too.
    "spark.sql.subexpressionElimination.skipForShortcutExpr": "true",
    # A scan names its files; listing them again in a job of its own costs more than it saves.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
}

_LOCAL: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    # Driver and executor are one process: no network, no name service.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Each stage of a query is broadcast to its tasks in blocks of this size. Spark's 4 MiB are mostly empty, and
    # were a third of all memory that Java cleared.
    "spark.broadcast.blockSize": "512k",
    # dbt's threads share the cores instead of queueing behind the first big model.
    "spark.scheduler.mode": "FAIR",
}


# Limits of the history that Spark keeps for its user interface: by default the plans and tasks of the last thousand
# queries, which fill the heap of a long process of small statements.
_UNSEEN: Mapping[str, str] = {
    "spark.sql.ui.retainedExecutions": "50",
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "5000",
    "spark.ui.dagGraph.retainedRootRDDs": "100",
}


def driver_memory(machine: Machine) -> int:
    """Heap of a local driver in bytes: a quarter of the machine, between 1 and 8 GiB.

    In local mode the driver does all the work; the rest is for Python workers and the page cache.
    """
    return max(1 * GIB, min(8 * GIB, machine.memory // 4))


def shuffle_partitions(machine: Machine) -> int:
    """Partitions of a shuffle before adaptive execution joins the small ones: enough to spill gently."""
    return max(8, min(200, 4 * machine.cores))


# Every task that aggregates or sorts takes memory by the page, and so does every broadcast. Spark's own page would be
# 64 MiB, to be cleared, held and collected for a handful of rows: after six builds of the demo the JVM had 5.5 GB with
# it, and has 1.4 GB with this one. A task can have 8,192 pages of it, 32 GiB.
_PAGE = "4m"


# C2, Java's second compiler, competes for the cores with a start that is over before its code pays. Five times
# Java's own thresholds keep it out of a start and cost a long job nothing measurable; without C2, long jobs suffer.
_LATE_C2 = (
    "-XX:Tier4InvocationThreshold=25000",
    "-XX:Tier4MinInvocationThreshold=3000",
    "-XX:Tier4CompileThreshold=75000",
    "-XX:Tier4BackEdgeThreshold=200000",
)


# A heap that begins with a sixteenth of the machine instead of a sixty-fourth is collected less often; and no full
# collection every time that Spark's classes need more room than thought.
_ROOM = ("-XX:InitialRAMPercentage=6.25", "-XX:MetaspaceSize=256m")


def java_options(user_options: Sequence[str], environ: Mapping[str, str], machine: Machine) -> tuple[str, ...]:
    """Options of a local JVM for a quick start without harm to long jobs; the user's own follow them."""
    said = " ".join([*user_options, environ.get("JAVA_TOOL_OPTIONS", ""), environ.get("JDK_JAVA_OPTIONS", "")])
    if re.search(r"-XX:\+Use\w+GC\b", said):  # two collectors would keep the JVM from starting
        return (*_ROOM, *_LATE_C2)
    collector = "-XX:+UseSerialGC" if machine.cores <= 2 else "-XX:+UseParallelGC"
    return (collector, *_ROOM, *_LATE_C2)


def is_scratch(folder: str) -> bool:
    """Whether tables of Spark's own catalog are in a folder that ends with the process."""
    return os.path.basename(folder.rstrip("/")).startswith(SCRATCH)


def spark_settings(config: SessionConfig, machine: Machine, scratch: str) -> dict[str, str]:
    """All Spark settings of a classic session, in no particular order.

    Args:
        config: the wish.
        machine: what local mode may use.
        scratch: a folder that need not exist, for tables that somebody makes in Spark's own catalog.
    """
    settings = {
        **_EVERYWHERE,
        "spark.master": config.effective_master,
        "spark.app.name": config.app_name,
        WAREHOUSE: scratch,
    }
    if config.is_local:
        settings |= _LOCAL
        settings["spark.sql.shuffle.partitions"] = str(shuffle_partitions(machine))
        settings[DRIVER_MEMORY] = f"{driver_memory(machine) >> 20}m"
        settings[PAGE_SIZE] = _PAGE
    settings |= {key: str(value) for key, value in config.spark_config.items()}
    if config.master:
        settings["spark.master"] = config.master
    unseen = _UNSEEN if settings.get("spark.ui.enabled") == "false" else {}
    return {**unseen, **settings}
