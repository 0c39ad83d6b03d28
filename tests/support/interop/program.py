"""Another program that answers commands on its standard input."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path


class Program:
    """A program that runs until it is closed. Rows come through files in `folder`, where its log is, too."""

    def __init__(self, command: Sequence[str], folder: Path, log: str) -> None:
        self._folder = folder
        self._count = 0
        self._log = (folder / log).open("w")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, encoding="utf-8"
        )

    def close(self) -> None:
        """End the program."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._log.close()
