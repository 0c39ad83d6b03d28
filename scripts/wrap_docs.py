"""Wraps the prose of the documentation at 120 columns, as `ruff format` does the code; `make format` runs it.

Only paragraphs with a longer line change. Tables, code, headings and generated pages stay as they are.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

WIDTH = 120
ROOT = Path(__file__).resolve().parent.parent
GENERATED = ("docs/options.md", "docs/sql.md", "docs/conformance.md")
_ITEM = re.compile(r"\s*(?:[-*]|\d+\.) +")
_NO_PROSE = re.compile(r"\s*(?:[|#<>]|$)")
_NEW_BLOCK = re.compile(r"\s*(?:[-*+] |\d+\. |[|#<>])")


def pages() -> list[Path]:
    """The pages that people write."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    return sorted(page for page in found if str(page.relative_to(ROOT)) not in GENERATED)


def wrapped(text: str) -> str:
    """The text of a page with its long paragraphs wrapped."""
    lines = [line for block in _blocks(text.split("\n")) for line in _wrapped_block(block)]
    return "\n".join(lines)


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Paragraphs and items of lists; each other line alone, with all of its white space."""
    block: list[str] = []
    in_code = False
    for line in lines:
        fence = line.lstrip().startswith("```")
        alone = in_code or fence or _NO_PROSE.match(line) is not None
        in_code ^= fence
        if block and (alone or _ITEM.match(line)):
            yield block
            block = []
        if in_code or alone:
            yield [f"\0{line}"]
        else:
            block.append(line)
    if block:
        yield block


def _wrapped_block(block: list[str]) -> list[str]:
    if block[0].startswith("\0"):
        return [block[0][1:]]
    if max(map(len, block)) <= WIDTH or any(line.endswith(("  ", "\\")) for line in block):
        return block
    item = _ITEM.match(block[0])
    first = item.group() if item else block[0][: len(block[0]) - len(block[0].lstrip())]
    words = " ".join([block[0][len(first) :], *block[1:]]).split()
    text = re.sub(r"`[^`]{1,60}`", lambda code: code.group().replace(" ", "\0"), " ".join(words))
    for width in range(WIDTH, WIDTH // 2, -1):
        lines = textwrap.wrap(
            text,
            width,
            initial_indent=first,
            subsequent_indent=" " * len(first),
            break_long_words=False,
            break_on_hyphens=False,
        )
        if not any(_NEW_BLOCK.match(line) for line in lines[1:]):
            return [line.replace("\0", " ") for line in lines]
    return block


def main() -> int:
    """Wrap all pages."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if wrapped(text) != text:
            page.write_text(wrapped(text), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
