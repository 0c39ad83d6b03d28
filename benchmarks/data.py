"""TPC-H lineitem and the changes to it.

The upsert batch has 60,000 rows at scale 1 (1 % of the table): nine tenths change rows picked uniformly at random, a
tenth are new keys. It is derived from the table by hashing the key, so every run and every scale has the same kind.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

KEYS = ["l_orderkey", "l_linenumber"]
UPSERT_ROWS_AT_SCALE_1 = 60_000
ROWS_AT_SCALE_1 = 6_001_215


def generator() -> str:
    """The data generator, from the running environment first. Raises SystemExit when it is missing."""
    installed = Path(sys.executable).with_name("tpchgen-cli")
    found = str(installed) if installed.exists() else shutil.which("tpchgen-cli")
    if not found:
        raise SystemExit("tpchgen-cli is missing: pip install 'dbt-tablestore[bench]'")
    return found


def lineitem(folder: Path, scale: float) -> str:
    """Path of lineitem at a scale factor as Parquet; made once."""
    target = folder / f"sf{scale:g}"
    path = target / "lineitem.parquet"
    if not path.exists():
        target.mkdir(parents=True, exist_ok=True)
        command = [
            generator(),
            "parquet",
            "-s",
            f"{scale:g}",
            "--tables",
            "lineitem",
            "--output-dir",
            str(target),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return str(path)


def changes(spark: SparkSession, source: str, scale: float, rows: int, seed: int = 1) -> DataFrame:
    """About `rows` changed rows of lineitem at `scale`, nine tenths of existing keys; those of each seed differ from
    those of others."""
    table = spark.read.parquet(source)
    share = rows / (ROWS_AT_SCALE_1 * scale)
    modulus = 1_000_000
    picked = table.where(F.pmod(F.hash(*KEYS, F.lit(seed)), F.lit(modulus)) < int(share * modulus))
    new = F.pmod(F.hash(*KEYS, F.lit(seed + 1)), F.lit(10)) == 0
    number, quantity = F.col("l_linenumber"), F.col("l_quantity")
    return picked.withColumn("l_linenumber", F.when(new, number + 100 + seed).otherwise(number)).withColumn(
        "l_quantity", (quantity + seed).cast(table.schema["l_quantity"].dataType)
    )
