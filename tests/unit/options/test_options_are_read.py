"""An option that the documentation calls supported is read somewhere: parsing it changes a field that code asks for."""

from __future__ import annotations

import ast
import os
from dataclasses import fields
from functools import lru_cache

import pytest

from tablestore_engine.options import OPTIONS, CoreOptions, OptionType

ENGINE = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "tablestore_engine"
)
# What stands before the dot where a table's options are asked.
HOLDERS = {"options", "core_options", "_options"}
# `options` is another thing there: the thresholds of the strategy.
ELSEWHERE = {"options", "mergetree"}
OTHER_VALUES = {
    OptionType.INT: "23",
    OptionType.TEXT: "other",
    OptionType.FILE_NAME: "other-",
    OptionType.MEMORY: "23 mb",
    OptionType.DURATION: "23 min",
    OptionType.COLUMNS: "other,columns",
    OptionType.STATS_MODE: "counts",
}


def other_value(option):
    """A text that means something else than the default and is acted on; None when there is none to act on."""
    if option.type is OptionType.BOOLEAN:
        candidates = [str(not option.default).lower()]
    elif option.type is OptionType.ENUM:
        candidates = [one for one in option.choices if one != option.default]
    else:
        candidates = [OTHER_VALUES[option.type]]
    return next((one for one in candidates if option.acts_on(option.parse(one))), None)


ACTED_ON = [one for one in OPTIONS if one.supported and other_value(one) is not None]


def changed_fields(option):
    key = option.key.replace("*", "some_column")
    plain, other = (CoreOptions.parse(given, strict=False) for given in ({}, {key: other_value(option)}))
    return {
        one.name for one in fields(CoreOptions) if one.compare and getattr(plain, one.name) != getattr(other, one.name)
    }


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
                    found.append(ast.parse(file.read()))
    return found


def last_name(node):
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


@lru_cache
def names_read():
    """Fields that are read outside `options`, directly or by a method of CoreOptions that is called there."""
    found = {
        node.attr
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and last_name(node.value) in HOLDERS
    }
    with open(os.path.join(ENGINE, "options", "core.py"), encoding="utf-8") as file:
        methods = [one for one in ast.walk(ast.parse(file.read())) if isinstance(one, ast.FunctionDef)]
    for method in methods:
        if method.name in found:
            found |= {
                node.attr
                for node in ast.walk(method)
                if isinstance(node, ast.Attribute) and last_name(node.value) == "self"
            }
    return found


@lru_cache
def texts():
    """The string constants outside `options`."""
    return {
        node.value
        for module in modules()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


@pytest.mark.parametrize("option", ACTED_ON, ids=lambda one: one.key)
def test_a_supported_option_is_read(option):
    changed = changed_fields(option)
    if changed:
        unread = changed - names_read()
        assert not unread, f"'{option.key}' is parsed into {unread}, which nobody reads: it has no effect"
    else:
        # Some are taken out of the mapping when a table is created, and never become a field.
        assert option.key in texts(), f"'{option.key}' is not parsed into anything, and nobody asks for it"


def test_there_is_something_to_test():
    assert len(ACTED_ON) > 30
    assert changed_fields(next(one for one in OPTIONS if one.key == "write-only")) == {"write_only"}
    assert "no_such_field" not in names_read()
