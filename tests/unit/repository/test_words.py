"""One vocabulary, and lines that fit: rules for every text file of the repository, in any language."""

from __future__ import annotations

import re
import subprocess
from functools import cache

import pytest
from support.repository import ROOT

LENGTH = 120
GENERATED = {"docs/options.md", "docs/sql.md"}
ONE_ENTRY_A_LINE = ("tests/spark/sql/statements/", "tests/unit/options/option_effects.txt")
MAY_BE_LONG = re.compile(r"^\s*\||# noqa: E501$")
"""Rows of Markdown tables, and tables of cases in tests."""
PRAGMA = re.compile(r"\s+# (noqa|fmt|type): .*$")
OWN = ("tablestore_engine/", "dbt/", "docs/", "scripts/", "examples/", "benchmarks/", "README.md", "CONTRIBUTING.md")
THIS = "tests/unit/repository/test_words.py"
ELSEWHERE = re.compile(r"\bplaces=\d|\bplacing '|'gone'|\"gone\"|\.touch\(|\.tell\(|\btouch \"", re.IGNORECASE)
"""Words of Hypothesis, of SQL's OVERLAY and of files, and values of rows."""
WORDS = {
    "plac(?:e|es|ed|ing)": "row position, bit index, byte offset, path or partition: the word for what is meant",
    "whoever|whom": "the reader, the caller, the next process",
    "write_homes?|key_homes?|homes": "key location, routed write",
    "touch(?:es|ed|ing)?": "file overlap; read, changed, opened",
    "count(?:ed|ing)_(?:read|compact|changes|rows)": "multiset",
    "goes with|lands? right|half way|in place of": "works with, is correct, unfinished, instead of",
    "stand_ins?|stand-ins?": "temporary view",
    "began_on": "base_snapshot_id",
    "beside": "next to, join lookup",
    "identifying": "discriminating",
    "stands?": "is, is in, represents",
    "told|gone": "rendered, said; removed",
    "tells?|telling": "distinguish; say, report",
    "stood": "was",
}


@cache
def _texts():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone")
    found = {}
    for name in listed.stdout.splitlines():
        path = ROOT / name
        data = path.read_bytes() if path.is_file() else b"\0"
        if b"\0" not in data:
            found[name] = data.decode("utf-8")
    return found


def _blanks(match):
    return " " * len(match[0])


def _is_long(line):
    return len(line) > LENGTH and len(PRAGMA.sub("", line)) > LENGTH and not MAY_BE_LONG.search(line)


def test_lines_are_short():
    """Of every text file that is not generated; ruff looks at Python only."""
    found = [
        f"{name}:{number}"
        for name, text in _texts().items()
        if name not in GENERATED and not name.startswith(ONE_ENTRY_A_LINE)
        for number, line in enumerate(text.splitlines(), 1)
        if _is_long(line)
    ]
    assert not found, f"more than {LENGTH} characters: {', '.join(found)}"


def test_docstrings_and_comments_open_with_a_plain_subject():
    """A noun or a verb, not "What a scan reads", in comments too; tests may say what they show."""
    opening = re.compile(r'^ *(?:"""|# )(?:What|Who)\b|(?<=\S)  # [Ww](?:hat|ho)\b', re.MULTILINE)
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        for name, text in _texts().items()
        if name.startswith(OWN) and name.endswith(".py")
        for match in opening.finditer(text)
    ]
    assert not found, f"name what it is in {', '.join(found)}"


def test_dropped_words_stay_dropped():
    """As words of a sentence, and as parts of a name."""
    dropped = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(WORDS)})(?![A-Za-z])", re.IGNORECASE)
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}"
        for name, text in _texts().items()
        if name.startswith(OWN) or (name.startswith("tests/") and name.endswith(".py") and name != THIS)
        for match in dropped.finditer(ELSEWHERE.sub(_blanks, text))
    ]
    assert not found, f"write another word ({WORDS}) in {', '.join(found)}"
