"""When scripts/conformance.py says that a class of dbt's suite is passed: judged on made-up classes."""

from __future__ import annotations

import importlib.util
import os
from types import SimpleNamespace

import pytest
from support.repository import ROOT


@pytest.fixture
def conformance():
    spec = importlib.util.spec_from_file_location("conformance", os.path.join(ROOT, "scripts", "conformance.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BaseThing:
    def test_one(self): ...

    def test_two(self): ...


class BaseOtherThing(BaseThing):
    """Runs the tests of BaseThing as they are, and one more."""

    def test_three(self): ...


class BaseChangedThing(BaseThing):
    """Runs another test instead of one of BaseThing's."""

    def test_two(self): ...


SUITE = {"things.Thing": BaseThing, "things.Other": BaseOtherThing, "things.Changed": BaseChangedThing}


@pytest.fixture
def judged(conformance, monkeypatch):
    """Judges a run in which these classes passed or failed."""
    for kind in SUITE.values():
        monkeypatch.setattr(kind, "__module__", "dbt.tests.adapter.things")
    monkeypatch.setattr(conformance, "suite_classes", lambda: iter(SUITE.items()))
    monkeypatch.setattr(conformance, "REASONS", {"things.Changed": "Not wanted."})

    def judge(**classes):
        recorder = conformance.Recorder()
        for name, (base, passed) in classes.items():
            recorder.classes[type(name, (base,), {"__module__": "test_things"})] = passed
        return conformance.judge(recorder)

    return judge


def test_a_class_whose_only_use_passes_is_passed(judged):
    verdicts = judged(TestThing=(BaseThing, True))
    assert verdicts == {"things.Thing": None, "things.Other": "", "things.Changed": "Not wanted."}


@pytest.mark.parametrize("order", [(True, False), (False, True)])
def test_one_use_that_passes_does_not_hide_another_that_fails(judged, order):
    first, second = order
    assert judged(TestA=(BaseThing, first), TestB=(BaseThing, second))["things.Thing"] == ""
    assert judged(TestA=(BaseThing, True), TestB=(BaseThing, True))["things.Thing"] is None


def test_a_class_that_nobody_uses_is_not_passed(judged):
    assert judged() == {"things.Thing": "", "things.Other": "", "things.Changed": "Not wanted."}


def test_a_use_of_a_class_that_runs_all_tests_of_another_counts_for_both(judged):
    assert judged(TestOther=(BaseOtherThing, True))["things.Thing"] is None
    verdicts = judged(TestThing=(BaseThing, True), TestOther=(BaseOtherThing, False))
    assert (verdicts["things.Thing"], verdicts["things.Other"]) == ("", "")


def test_a_use_of_a_class_with_other_tests_says_nothing_of_its_base(judged):
    assert judged(TestChanged=(BaseChangedThing, True))["things.Thing"] == ""
    verdicts = judged(TestThing=(BaseThing, True), TestChanged=(BaseChangedThing, False))
    assert (verdicts["things.Thing"], verdicts["things.Changed"]) == (None, "Not wanted.")


@pytest.mark.parametrize("outcome", ["failed", "skipped"])
def test_every_phase_of_every_test_of_a_class_counts(conformance, outcome):
    recorder = conformance.Recorder()
    recorder._items = {"a::one": BaseThing, "a::two": BaseThing, "b::one": BaseOtherThing}
    for node, result in [("a::one", outcome), ("a::two", "passed"), ("b::one", "passed"), ("c", "passed")]:
        recorder.pytest_runtest_logreport(SimpleNamespace(nodeid=node, outcome=result))
    assert recorder.classes == {BaseThing: False, BaseOtherThing: True}
