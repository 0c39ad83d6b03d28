"""An option that the documentation calls supported is read somewhere: code asks for its value or its declaration."""

from __future__ import annotations

import ast
import os
from functools import lru_cache

import pytest
from support.repository import ROOT

from tablestore_engine.options import DECLARED, OPTIONS, CoreOptions
from tablestore_engine.options.all_options import Declarations
from tablestore_engine.options.option_type import (
    BOOLEAN,
    BY_LEVEL,
    COLUMNS,
    DURATION,
    ENUM,
    ENUMS,
    FILE_NAME,
    FLOAT,
    INT,
    MEMORY,
    STATS_MODE,
    TEXT,
)

ENGINE = str(ROOT / "tablestore_engine")
# What is before the dot where a table's options are asked for a value, or a group of options for a declaration.
HOLDERS = {"options", "core_options", "_options", *(group.__name__ for group in Declarations.__bases__)}
# There `options` is something else: the thresholds of the strategy.
ELSEWHERE = {"options", "mergetree"}
OTHER_VALUES = {
    INT: "22",
    FLOAT: "0.5",
    BY_LEVEL: "0:gzip",
    TEXT: "other",
    FILE_NAME: "other-",
    MEMORY: "23 mb",
    DURATION: "23 min",
    COLUMNS: "other,columns",
    STATS_MODE: "counts",
}
# All values that are accepted mean the same, so there is nothing to read.
ALIKE = {"type"}


def other_value(option):
    """A text that means something else than the default and is acted on; None when there is none to act on."""
    if option.type is BOOLEAN:
        candidates = [str(not option.default).lower()]
    elif option.type in (ENUM, ENUMS):
        candidates = [one for one in option.choices if option.parse(one) != option.default]
    else:
        candidates = [OTHER_VALUES[option.type]]
    return next((one for one in candidates if option.acts_on(option.parse(one))), None)


ACTED_ON = [one for one in OPTIONS if one.supported and other_value(one) is not None and one.key not in ALIKE]


def changed_fields(option):
    key = option.key.replace("*", "some_column")
    plain, other = (CoreOptions.parse(given, strict=False) for given in ({}, {key: other_value(option)}))
    return {name for name in DECLARED if getattr(plain, name) != getattr(other, name)}


@lru_cache
def modules():
    """The parsed modules of the engine that may ask for a table's options."""
    found = []
    for folder, _, names in os.walk(ENGINE):
        if os.path.relpath(folder, ENGINE).split(os.sep)[0] in ELSEWHERE:
            continue
        for name in names:
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    text = file.read()
                if any(f"{one}." in text for one in HOLDERS):
                    found.append(ast.parse(text))
    return found


def last_name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


@lru_cache
def names_read():
    """Attributes that are read outside `options`, directly or by a method of CoreOptions that is used there."""
    found = {
        node.attr
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and last_name(node.value) in HOLDERS
    }
    with open(os.path.join(ENGINE, "options", "core_options.py"), encoding="utf-8") as file:
        methods = [one for one in ast.walk(ast.parse(file.read())) if isinstance(one, ast.FunctionDef)]
    for method in methods:
        if method.name in found:
            found |= {
                node.attr
                for node in ast.walk(method)
                if isinstance(node, ast.Attribute) and last_name(node.value) == "self"
            }
    return found


@pytest.mark.parametrize("option", ACTED_ON, ids=lambda one: one.key)
def test_a_supported_option_is_read(option):
    changed = changed_fields(option)
    assert changed, f"'{option.key}' is not parsed into anything"
    unread = changed - names_read()
    assert not unread, f"'{option.key}' is parsed into {unread}, which nobody reads: it has no effect"


def test_there_is_something_to_test():
    assert len(ACTED_ON) > 30
    assert changed_fields(next(one for one in OPTIONS if one.key == "write-only")) == {"write_only"}
    assert {"sequence_field_sort_order", "column_stats_modes"} <= names_read(), "read by methods"
    assert not {"table_type", "deletion_vector"} & names_read()
    assert "no_such_field" not in names_read()
