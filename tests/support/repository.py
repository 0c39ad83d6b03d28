"""The files of this repository."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def text_of(path):
    """The text of a file, whose path is relative to the repository."""
    return (ROOT / path).read_text(encoding="utf-8")
