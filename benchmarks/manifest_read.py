"""How long a manifest of 10,000 entries takes to read and to write, against fastavro's own container.

    python -m benchmarks.manifest_read

Prints CPU milliseconds, the least of twelve rounds. fastavro needs `backports.zstd` for the codec zstd.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable

import fastavro

from tablestore_engine.metadata.binary_row import encode_row
from tablestore_engine.metadata.manifest_encoding import avro_container
from tablestore_engine.metadata.manifest_encoding.data_file_meta import DataFileMeta, SimpleStats
from tablestore_engine.metadata.manifest_encoding.manifest_entry import FileKind, ManifestEntry, encode_entries
from tablestore_engine.schema.types.types import parse_type

ENTRIES, ROUNDS, COLUMNS = 10_000, 12, 8
CODECS = {"zstd": "zstandard", "deflate": "deflate", "null": "null"}


def _entry(number: int) -> ManifestEntry:
    types = [parse_type("BIGINT")] * COLUMNS
    key, row = encode_row([number], types[:1]), encode_row([*range(number, number + COLUMNS)], types)
    stats = SimpleStats(key, key, (0,)), SimpleStats(row, row, (0,) * COLUMNS)
    name = f"data-{number:036d}.parquet"
    file = DataFileMeta(name, 100_000, 1000, key, key, *stats, number, number + 5, 0, level=number % 6)
    return ManifestEntry(FileKind.ADD, encode_row([number % 50], types[:1]), number % 16, 16, file)


def _least(run: Callable[[], object]) -> float:
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found) * 1000


def _write_by_fastavro(records: list[dict[str, object]], codec: str) -> None:
    fastavro.writer(io.BytesIO(), avro_container.SCHEMAS["manifest_entry"], records, codec=codec, sync_interval=1 << 30)


def main() -> None:
    """Measure each codec and print a line for it."""
    entries = [_entry(number) for number in range(ENTRIES)]
    for name, codec in CODECS.items():
        data = encode_entries(entries, name)
        records = avro_container.decode(data)
        figures = {
            "read": _least(lambda data=data: avro_container.decode(data)),
            "write": _least(lambda records=records, name=name: avro_container.encode("manifest_entry", records, name)),
        }
        try:
            figures["fastavro.reader"] = _least(lambda data=data: list(fastavro.reader(io.BytesIO(data))))
            figures["fastavro.writer"] = _least(lambda records=records, codec=codec: _write_by_fastavro(records, codec))
        except ValueError as error:  # the codec's package is missing
            print(f"{name}: {error}")
        print(f"{name}: " + ", ".join(f"{what} {figure:.0f} ms" for what, figure in figures.items()))


if __name__ == "__main__":
    main()
