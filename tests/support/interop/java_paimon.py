"""The project's side of `tests/interop/java/PaimonServer.java`: compiles and starts it, and compares the values that
it reads."""

from __future__ import annotations

import json
import struct
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.interop.program import Program
from tablestore_engine.schema.table.table_schema import TableSchema
from tablestore_engine.schema.types.types import (
    BINARY_ROOTS,
    TIMESTAMP_ROOTS,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
)

SOURCES = Path(__file__).parents[2] / "interop" / "java"


class JavaPaimonError(Exception):
    """What the Java program said instead of an answer."""


class JavaPaimon(Program):
    """A serving `PaimonServer`. `jars` holds Paimon's bundle and what it needs; rows come through files in `folder`.

    Of an `old` version the program lacks the command `remove` and those of `TableKeeper`.
    """

    def __init__(self, jars: str, folder: Path, *, old: bool = False) -> None:
        path = f"{jars}/*"
        classes = folder / "classes"
        names = ("PaimonServer", *(() if old else ("RowRemover", "TableKeeper")))
        programs = [str(SOURCES / f"{one}.java") for one in names]
        subprocess.run(["javac", "-Xlint:none", "-cp", path, "-d", str(classes), *programs], check=True)
        flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx512m", "-Duser.timezone=UTC"]
        super().__init__(["java", *flags, "-cp", f"{classes}:{path}", "PaimonServer"], folder, "java.log")

    def ask(self, *command: str) -> str:
        """Send one command. Raises JavaPaimonError with the program's own message."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\t".join(command) + "\n")
        self._process.stdin.flush()
        kind, _, text = self._process.stdout.readline().rstrip("\n").partition(" ")
        if kind != "ok":
            raise JavaPaimonError(text or f"it died; see {self._log.name}")
        return text

    def create(
        self,
        path: str,
        columns: Mapping[str, str],
        *,
        key: Sequence[str] = (),
        partition: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Make an empty table; columns by name with the text of their type."""
        lists = [
            [f"{name} {kind}" for name, kind in columns.items()],
            key,
            partition,
        ]
        given = "\x01".join(f"{name}={value}" for name, value in (options or {}).items())
        self.ask("create", path, *map(",".join, lists), given)

    def read(
        self, path: str, snapshot: int | str | None = None, command: str = "read"
    ) -> tuple[list[Any], Counter[str]]:
        """Columns (name, type) and rows of a table, as `multiset_of` writes them.

        `snapshot` may also be an option of a scan, such as `scan.tag-name=t`; `command` `audit` reads the audit log.
        """
        self._count += 1
        out = self._folder / f"java-{self._count}.json"
        self.ask(command, path, str(out), *([] if snapshot is None else [str(snapshot)]))
        with out.open(encoding="utf-8") as lines:
            head, *rows = [json.loads(line) for line in lines]
        return head, Counter(json.dumps(row) for row in rows)


def multiset_of(rows: pa.Table, schema: TableSchema) -> Counter[str]:
    """Rows in the form in which the Java program writes them."""
    types = [schema.field(name).type for name in rows.column_names]
    columns = [column.to_pylist() for column in rows.columns]
    return Counter(
        json.dumps([_encode(v, t) for v, t in zip(row, types, strict=True)]) for row in zip(*columns, strict=True)
    )


def _encode(value: Any, data_type: DataType) -> Any:
    if value is None:
        return None
    if isinstance(data_type, ArrayType):
        return [_encode(v, data_type.element) for v in value]
    if isinstance(data_type, MapType):
        return [
            [_encode(k, data_type.key) for k, _ in value],
            [_encode(v, data_type.value) for _, v in value],
        ]
    if isinstance(data_type, RowType):
        return [_encode(value[f.name], f.type) for f in data_type.fields]
    assert isinstance(data_type, AtomicType)
    root = data_type.root
    if root in ("FLOAT", "DOUBLE"):
        return struct.unpack("<q", struct.pack("<d", value))[0]
    if root == "DECIMAL":
        return format(value, "f")
    if root == "DATE":
        return value.toordinal() - date(1970, 1, 1).toordinal()
    if root == "TIME":
        return ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
    if root in TIMESTAMP_ROOTS:
        gap = value - (datetime(1970, 1, 1) if value.tzinfo is None else datetime(1970, 1, 1, tzinfo=timezone.utc))
        return (gap.days * 86400 + gap.seconds) * 1_000_000 + gap.microseconds
    if root in BINARY_ROOTS:
        return value.hex()
    return value
