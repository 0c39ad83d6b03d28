"""The tables of rules: every engine and function of the options has a row, and what follows for whole engines."""

from __future__ import annotations

import ast

import pytest
from support.repository import ROOT

from tablestore_engine.options.declarations.merge_options import AGGREGATE_FUNCTIONS, COUNT_ENGINE, MERGE_ENGINES
from tablestore_engine.schema.merge_engines.aggregate_functions import FUNCTIONS, RetractRule
from tablestore_engine.schema.merge_engines.engine_rules import RULES, Kept, Retraction, engine_with, rules_of
from tablestore_engine.schema.merge_engines.merge_engine import Fold, MergeEngine

LAST = Fold("v", "last_non_null_value", retract_rule=RetractRule.CLEAR)
SUM = Fold("v", "sum", retract_rule=RetractRule.NEGATE)
MAX = Fold("v", "max")
MAP = Fold("v", "merge_map", retract_rule=RetractRule.IN_ORDER)
RATE = Fold("v", "product", retract_rule=RetractRule.IN_ORDER, rounds=True)
GROUPED = Fold("v", "last_value", sequence=("s",), retract_rule=RetractRule.CLEAR)

ENGINES = {
    "deduplicate": MergeEngine(),
    "first-row": MergeEngine("first-row"),
    "partial-update": MergeEngine("partial-update", (LAST,)),
    "partial-update, remove on delete": MergeEngine("partial-update", (LAST,), removes_on_delete=True),
    "groups": MergeEngine("partial-update", (GROUPED,)),
    "groups, remove on delete": MergeEngine("partial-update", (GROUPED,), removing_groups=(("s",),)),
    "sum": MergeEngine("aggregation", (SUM,)),
    "sum and max": MergeEngine("aggregation", (SUM, MAX)),
    "sum and max, remove on delete": MergeEngine("aggregation", (SUM, MAX), removes_on_delete=True),
    "map": MergeEngine("aggregation", (SUM, MAP)),
    "map and max": MergeEngine("aggregation", (MAP, MAX)),
    "rate": MergeEngine("aggregation", (RATE,)),
    "only keys": MergeEngine("aggregation"),
    "count": MergeEngine(COUNT_ENGINE),
}
EXPECTED = {  # engine: stores, settles, reads retractions, takes late records, keeps apart, may outgrow
    "deduplicate": "- - r l - -",
    "first-row": "- - - l - -",
    "partial-update": "- s - - - -",
    "partial-update, remove on delete": "S s r - a -",
    "groups": "S - r - a -",
    "groups, remove on delete": "S - r - a -",
    "sum": "- s r l - o",
    "sum and max": "- s - l - o",
    "sum and max, remove on delete": "S s r - a o",
    "map": "S s r - a o",
    "map and max": "- s - - - -",
    "rate": "S s r - a o",
    "only keys": "- - r l - -",
    "count": "- - - l - -",
}


@pytest.mark.parametrize("name", ENGINES)
def test_rules_of_whole_engines(name):
    engine = ENGINES[name]
    found = {
        "S": engine.stores_retractions,
        "s": engine.settles_retractions,
        "r": engine.reads_retractions,
        "l": engine.takes_late,
        "a": engine.keeps_apart,
        "o": engine.may_outgrow,
    }
    assert " ".join(letter if holds else "-" for letter, holds in found.items()) == EXPECTED[name]


def test_every_engine_has_a_row():
    assert {rules_of(name).kept for name in MERGE_ENGINES} == set(Kept)
    assert {row.retraction for row in RULES.values()} == set(Retraction)
    assert rules_of("partial-update", in_groups=True).retraction is Retraction.AS_RECORD


@pytest.mark.parametrize(
    ("option", "engine"),
    [
        ("fields.*.sequence-group", "partial-update"),
        ("partial-update.remove-record-on-delete", "partial-update"),
        ("partial-update.remove-record-on-sequence-group", "partial-update"),
        ("aggregation.remove-record-on-delete", "aggregation"),
    ],
)
def test_an_option_of_one_engine(option, engine):
    assert engine_with(option) == engine


def test_engines_are_named_in_the_table_only():
    """Other code asks for a rule, so that a new engine is a new row."""
    may = {
        "options/declarations/merge_options.py",
        "schema/merge_engines/engine_rules.py",
        "schema/merge_engines/merge_engine.py",
    }
    found = [
        f"{file}:{node.lineno}"
        for file in sorted((ROOT / "tablestore_engine").rglob("*.py"))
        if str(file.relative_to(ROOT / "tablestore_engine")) not in may
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in MERGE_ENGINES
    ]
    assert not found


def test_every_function_has_a_row():
    assert {*FUNCTIONS, "first_not_null_value"} == set(AGGREGATE_FUNCTIONS)


@pytest.mark.parametrize(
    ("name", "update_before", "delete"),
    [
        ("deduplicate", None, None),
        ("first-row", "its merge engine is 'first-row'", "its merge engine is 'first-row'"),
        ("partial-update", "its merge engine is 'partial-update'", "its merge engine is 'partial-update'"),
        ("partial-update, remove on delete", None, None),
        ("groups", None, None),
        ("sum", None, None),
        ("sum and max", "column 'v' cannot take back a value (its function is max)", "column 'v'"),
        ("sum and max, remove on delete", "column 'v' cannot take back a value (its function is max)", None),
        ("map", None, None),
    ],
)
def test_row_kinds_that_an_engine_cannot_take_have_a_reason(name, update_before, delete):
    found = ENGINES[name].obstacle(1), ENGINES[name].obstacle(3)
    assert found[0] == update_before
    assert found[1] is None if delete is None else found[1].startswith(delete)


def test_updates_before_that_are_left_out():
    left_out = {name for name, engine in ENGINES.items() if engine.leaves_out_updates_before}
    assert left_out == {"partial-update, remove on delete"}
    assert MergeEngine(ignores_updates_before=True).leaves_out_updates_before
