"""How long tables of each file format take to load, to upsert one row in a hundred, and to read, without Spark.

    python -m benchmarks.file_formats

Prints CPU seconds and the size of the table; rows have 11 columns. Compare the formats, not the seconds.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from tablestore_engine.catalog import Catalog
from tablestore_engine.schema.table.create_schema import create_schema
from tablestore_engine.schema.types.types import parse_type
from tablestore_engine.table import Table

ROWS, UPSERTS = 200_000, 2_000
COLUMNS = {
    "id": "BIGINT NOT NULL",
    **{f"n{i}": "BIGINT" for i in range(3)},
    **{f"d{i}": "DOUBLE" for i in range(2)},
    **{f"s{i}": "STRING" for i in range(3)},
    "at": "TIMESTAMP(6)",
    "price": "DECIMAL(21, 2)",
}


def _rows(ids: np.ndarray) -> pa.Table:
    random, count = np.random.default_rng(0), len(ids)
    numbers = {f"n{i}": random.integers(0, 1 << 40, count) for i in range(3)}
    texts = {f"s{i}": pa.array(random.integers(0, 1 << 30, count)).cast(pa.string()) for i in range(3)}
    return pa.table(
        {
            "id": ids,
            **numbers,
            **{f"d{i}": random.random(count) for i in range(2)},
            **texts,
            "at": pa.array(random.integers(0, 1 << 50, count)).cast(pa.timestamp("us")),
            "price": pa.array(random.integers(0, 1 << 30, count)).cast(pa.decimal128(21, 2)),
        }
    )


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _measured(table: Table, loaded: pa.Table, changed: pa.Table) -> dict[str, float]:
    return {
        "load": _seconds(lambda: table.write(loaded)),
        "upsert": _seconds(lambda: table.write(changed)),
        "scan": _seconds(table.to_arrow),
        "one column": _seconds(lambda: table.to_arrow(["n0"])),
    }


def main() -> None:
    """Measure each format and print a line for it."""
    loaded, changed = _rows(np.arange(ROWS)), _rows(np.arange(0, ROWS, ROWS // UPSERTS))
    typed = [(name, parse_type(text), None) for name, text in COLUMNS.items()]
    with tempfile.TemporaryDirectory() as warehouse:
        catalog = Catalog(warehouse)
        catalog.create_database("default", if_not_exists=True)
        for name in ("parquet", "orc", "avro"):
            options = {"bucket": "1", "file.format": name}
            table = catalog.create_table("default", name, create_schema(typed, ["id"], (), options))
            figures = _measured(table, loaded, changed)
            size = sum(entry.file.file_size for entry in table.live_files()) >> 10
            print(f"{name}: {size:,} kb, " + ", ".join(f"{what} {found:.2f} s" for what, found in figures.items()))


if __name__ == "__main__":
    main()
