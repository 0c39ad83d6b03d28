"""Which of dbt's own adapter tests this adapter passes, written from a run of them.

    python scripts/conformance.py              run tests/functional/adapter and write docs/conformance.md
    python scripts/conformance.py --select basic hooks      run some files only; write nothing, print the table

Vocabulary: a *suite class* is a class of dbt-tests-adapter that is meant to be subclassed and has tests of its own or
inherited. It is *passed* when subclasses of it ran here and every test of all of them passed; otherwise it needs an
entry in `REASONS`. Invariant: every suite class is in the table exactly once, passed or with its reason.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "functional" / "adapter"
PAGE = ROOT / "docs" / "conformance.md"
SUITE = "dbt.tests.adapter"

_JAVASCRIPT = "JavaScript functions: Spark has none."
_GRANTS = "Grants: a warehouse folder has file permissions, not users; dbt's `grants` config warns once."

REASONS: dict[str, str] = {
    "functions.test_js_udfs": _JAVASCRIPT,
    "functions.test_udfs.PythonUDFNotSupported": "Exclusive with `PythonUDFSupported`, which passes.",
    "grants": _GRANTS,
    "empty.test_empty.BaseTestEmptySeedFlag": "`dbt seed --empty` needs dbt-core 1.12.",
    "utils.test_current_timestamp.BaseCurrentTimestampNaive": "Exclusive with `BaseCurrentTimestampAware`, which passes.",  # noqa: E501
}
"""Why a suite class is not passed, by the longest prefix of `module.class`."""


class Recorder:
    """A pytest plugin that keeps, for each test class, whether everything in it passed."""

    def __init__(self) -> None:
        self.classes: dict[type, bool] = {}
        self._items: dict[str, type] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            if isinstance(item, pytest.Function) and item.cls is not None:
                self._items[item.nodeid] = item.cls

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = self._items.get(report.nodeid)
        if found is not None:
            self.classes[found] = self.classes.get(found, True) and report.outcome == "passed"


def suite_classes() -> Iterator[tuple[str, type]]:
    """All suite classes with their names below `dbt.tests.adapter`, such as `basic.test_base.BaseSimple…`."""
    folder = Path(next(iter(importlib.import_module(SUITE).__path__)))
    for file in sorted(folder.rglob("*.py")):
        if file.stem == "__init__":
            continue
        short = ".".join(file.relative_to(folder).with_suffix("").parts)
        module = importlib.import_module(f"{SUITE}.{short}")
        for name, kind in vars(module).items():
            is_own = inspect.isclass(kind) and kind.__module__ == module.__name__
            if is_own and not name.startswith("Test") and any(one.startswith("test_") for one in dir(kind)):
                yield f"{short}.{name}", kind


def reason_of(name: str) -> str | None:
    """The reason for not passing a suite class: that of the longest matching prefix."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        reason = REASONS.get(".".join(parts[:length]))
        if reason:
            return reason
    return None


def run(select: list[str]) -> Recorder:
    """Run the functional tests, all or of some files, and record them."""
    recorder = Recorder()
    paths = [str(TESTS / f"test_{one}.py") for one in select] or [str(TESTS)]
    # Without a mark: some classes and tests run here only.
    pytest.main([*paths, "-m", "", "-q", "-p", "no:cacheprovider"], plugins=[recorder])
    return recorder


def judge(recorder: Recorder) -> dict[str, str | None]:
    """For each suite class None when it is passed, else the reason, which is empty when there is none."""
    verdicts: dict[str, str | None] = {}
    for name, kind in suite_classes():
        users = [passed for cls, passed in recorder.classes.items() if uses(cls, kind)]
        # One use that passes must not hide another that fails.
        verdicts[name] = None if users and all(users) else (reason_of(name) or "")
    return verdicts


def uses(cls: type, kind: type) -> bool:
    """Whether a test class covers a suite class: it derives from it, or from a class that runs its tests unchanged."""
    named = [one for one in cls.__mro__ if _is_suite(one) and any(one in user.__bases__ for user in _ours(cls))]
    return any(one is kind or (issubclass(one, kind) and _runs_all_of(one, kind)) for one in named)


def _ours(cls: type) -> list[type]:
    return [one for one in cls.__mro__ if not _is_suite(one)]


def _is_suite(cls: type) -> bool:
    return cls.__module__.startswith(f"{SUITE}.")


def _runs_all_of(cls: type, kind: type) -> bool:
    names = [one for one in dir(kind) if one.startswith("test_")]
    return all(getattr(cls, one) is getattr(kind, one) for one in names)


def page(verdicts: dict[str, str | None]) -> str:
    """The Markdown of docs/conformance.md."""
    passed = sum(one is None for one in verdicts.values())
    areas: dict[str, list[str]] = defaultdict(list)
    for name in verdicts:
        areas[name.split(".")[0]].append(name)
    lines = [
        "# Conformance with dbt's adapter tests",
        "",
        (
            f"`scripts/conformance.py` wrote this page from a run of dbt-tests-adapter {version('dbt-tests-adapter')} "
            f"with dbt-core {version('dbt-core')}."
        ),
        "",
        f"**{passed} of {len(verdicts)}** classes pass.",
        "",
        "| area | passed | of |",
        "|---|---:|---:|",
    ]
    lines += [
        f"| {area} | {sum(verdicts[one] is None for one in areas[area])} | {len(areas[area])} |"
        for area in sorted(areas)
    ]
    lines += ["", "| class | result |", "|---|---|"]
    for name in sorted(verdicts):
        reason = verdicts[name]
        lines.append(f"| `{name}` | {'passed' if reason is None else reason or '**failed**'} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run, judge, write. 1 when a class neither passes nor has a reason."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--select", nargs="*", default=[], help="names of test files, such as `basic hooks`")
    arguments = parser.parse_args()
    verdicts = judge(run(arguments.select))
    text = page(verdicts)
    if arguments.select:
        print(text)
        return 0
    PAGE.write_text(text, encoding="utf-8")
    missing = [name for name, reason in verdicts.items() if reason == ""]
    print(f"{sum(one is None for one in verdicts.values())} of {len(verdicts)} classes pass; wrote {PAGE}.")
    for name in missing:
        print(f"neither passed nor explained: {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
