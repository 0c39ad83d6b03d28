"""How each engine is asked for the same: its packages, session, statements, and what it lacks.

All have the same Spark settings. A peer loads and changes rows in the way that its own documentation recommends for
keyed rows: MERGE, or INSERT where the table has a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.data import KEYS

COMMON = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.session.timeZone": "UTC",
}
_ON = " and ".join(f"t.{key} = s.{key}" for key in KEYS)
MERGE_STAR = f"merge into {{t}} t using {{s}} s on {_ON} when matched then update set * when not matched then insert *"
MERGE_CONDITIONS = (
    f"merge into {{t}} t using {{s}} s on {_ON} when matched and s.l_quantity > 45 then delete"
    " when matched then update set l_quantity = s.l_quantity + 1 when not matched then insert *"
)
_INSERT = "insert into {t} select * from {s}"
_KEY = ",".join(KEYS)
OURS = "tablestore"


@dataclass(frozen=True)
class Engine:
    """One engine, or one of its modes.

    `pyspark` is the version that its jars are for (None: that of this project), `jars` are Maven coordinates, `{t}` in
    a statement is the table and `{s}` the rows as a relation.
    """

    name: str
    label: str
    ctas: str
    upsert: str
    compact: tuple[str, ...]
    lacks: str
    table: str = "lineitem"
    setup: tuple[str, ...] = ()
    pyspark: str | None = None
    jars: tuple[str, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)
    merge: str = MERGE_CONDITIONS

    @property
    def environment(self) -> str:
        """The name of the folder of its jars: modes of one engine share them."""
        return self.name.partition("-")[0]


def _delta(name: str, label: str, vectors: str, lacks: str) -> Engine:
    return Engine(
        name,
        label,
        f"create table {{t}} using delta tblproperties ('delta.enableDeletionVectors' = '{vectors}') "
        "as select * from {s}",
        MERGE_STAR,
        ("optimize {t}", *(["reorg table {t} apply (purge)"] if vectors == "true" else [])),
        lacks,
        pyspark="4.1.4",
        jars=("io.delta:delta-spark_4.1_2.13:4.4.0",),
        config={
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        },
    )


def _iceberg(name: str, label: str, mode: str, lacks: str) -> Engine:
    modes = ", ".join(f"'write.{verb}.mode' = '{mode}'" for verb in ("delete", "update", "merge"))
    return Engine(
        name,
        label,
        f"create table {{t}} using iceberg tblproperties ('format-version' = '3', {modes}) as select * from {{s}}",
        MERGE_STAR,
        ("call ice.system.rewrite_data_files(table => 'db.lineitem', options => map('rewrite-all', 'true'))",),
        lacks,
        table="ice.db.lineitem",
        setup=("create namespace if not exists ice.db",),
        pyspark="4.1.4",
        jars=("org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",),
        config={
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": "{warehouse}",
        },
    )


_NO_KEY = "no primary key: an INSERT of a key that exists adds a second row"

ENGINES = (
    Engine(
        OURS,
        "dbt-tablestore",
        f"create table {{t}} (primary key ({_KEY}) not enforced) with ('bucket' = '8', 'bucket-key' = 'l_orderkey') "
        "as select * from {s}",
        _INSERT,
        ("alter table {t} compact",),
        "tables are in a local or mounted folder: no object store yet, and no catalog service",
        table="bench.lineitem",
    ),
    _delta("delta-cow", "Delta, copy-on-write", "false", f"{_NO_KEY}; files with one changed row are written anew"),
    _delta("delta-dv", "Delta, deletion vectors", "true", f"{_NO_KEY}; a MERGE reads the keys of the whole table"),
    _iceberg(
        "iceberg-cow",
        "Iceberg, copy-on-write",
        "copy-on-write",
        f"{_NO_KEY}; files with one changed row are written anew",
    ),
    _iceberg(
        "iceberg-mor",
        "Iceberg, merge-on-read",
        "merge-on-read",
        f"{_NO_KEY}; a MERGE reads the keys of the whole table",
    ),
    Engine(
        "paimon",
        "Paimon 0.9 (Spark 3.5)",
        f"create table {{t}} tblproperties ('primary-key' = '{_KEY}', 'bucket' = '8', 'bucket-key' = 'l_orderkey') "
        "as select * from {s}",
        _INSERT,
        ("call pai.sys.compact(table => 'db.lineitem')",),
        "its connector for Spark 4 is not on Maven Central",
        table="pai.db.lineitem",
        setup=("create database if not exists pai.db",),
        pyspark="3.5.9",
        jars=("org.apache.paimon:paimon-spark-3.5:0.9.0",),
        config={
            "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
            "spark.sql.catalog.pai": "org.apache.paimon.spark.SparkCatalog",
            "spark.sql.catalog.pai.warehouse": "file:{warehouse}",
        },
    ),
    Engine(
        "hudi",
        "Hudi, merge-on-read, bucket index",
        "create table {t} using hudi tblproperties (type = 'mor', "
        f"primaryKey = '{_KEY}', orderingFields = 'l_shipdate', 'hoodie.index.type' = 'BUCKET', "
        "'hoodie.bucket.index.num.buckets' = '8', 'hoodie.metadata.enable' = 'false') as select * from {s}",
        _INSERT,
        ("call run_compaction(op => 'scheduleandexecute', table => 'lineitem')",),
        "a column of the rows must order those of one key; its connector for Spark 4 was not measured",
        pyspark="3.5.9",
        jars=("org.apache.hudi:hudi-spark3.5-bundle_2.12:1.2.0",),
        # Its MERGE must give the column that orders rows.
        merge=MERGE_CONDITIONS.replace("l_quantity + 1", "l_quantity + 1, l_shipdate = s.l_shipdate"),
        config={
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
            "spark.hoodie.sql.insert.into.operation": "upsert",
        },
    ),
)


def engine_of(name: str) -> Engine:
    """An engine by its name."""
    return next(one for one in ENGINES if one.name == name)
