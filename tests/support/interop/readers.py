"""The project's side of `paimon_reader.py`: starts it, sends commands, brings rows back as Arrow tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from support.interop.program import Program

PROGRAM = Path(__file__).with_name("paimon_reader.py")
# `rust` is the compiled reader without SQL before it: the same planner and reader as `datafusion`, asked where both
# count.
EVERY_READER = ("pypaimon", "rust", "datafusion")
READERS = ("pypaimon", "datafusion")


class OtherReaderError(Exception):
    """What the other program said instead of an answer."""


class PaimonReader(Program):
    """A serving `paimon_reader.py`. Rows travel through files in `folder`."""

    def __init__(self, python: str, folder: Path) -> None:
        super().__init__([python, str(PROGRAM)], folder, "reader.log")

    def ask(self, **command: Any) -> Any:
        """Send one command. Raises OtherReaderError with the program's own message."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise OtherReaderError(f"the reader died; see {self._log.name}")
        answer = json.loads(line)
        if "error" in answer:
            raise OtherReaderError(answer["error"])
        return answer["ok"]

    def read(self, reader: str, warehouse: str, table: str, **more: Any) -> pa.Table:
        """The rows that one of EVERY_READER finds."""
        out = self._file()
        self.ask(do="read", reader=reader, warehouse=warehouse, table=table, out=str(out), **more)
        with pa.ipc.open_file(str(out)) as file:
            return file.read_all()

    def create(
        self,
        warehouse: str,
        table: str,
        schema: pa.Schema,
        *,
        primary_keys: Sequence[str] = (),
        partition_keys: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Make a table with pypaimon."""
        self.ask(
            do="create", warehouse=warehouse, table=table, schema=str(self._store(schema.empty_table())),
            primary_keys=list(primary_keys), partition_keys=list(partition_keys), options=dict(options or {}),
        )  # fmt: skip

    def write(self, warehouse: str, table: str, rows: pa.Table, overwrite: Mapping[str, Any] | None = None) -> None:
        """Append, upsert or (with a partition, which may be empty) overwrite with pypaimon."""
        self.ask(do="write", warehouse=warehouse, table=table, rows=str(self._store(rows)), overwrite=overwrite)

    def truncate(self, warehouse: str, table: str, partitions: Sequence[Mapping[str, str]] = ()) -> None:
        """Remove all rows, or those of some partitions, with pypaimon."""
        self.ask(do="truncate", warehouse=warehouse, table=table, partitions=list(partitions))

    def _file(self) -> Path:
        self._count += 1
        return self._folder / f"rows-{self._count}.arrow"

    def _store(self, rows: pa.Table) -> Path:
        path = self._file()
        with pa.ipc.new_file(str(path), rows.schema) as writer:
            writer.write_table(rows)
        return path
