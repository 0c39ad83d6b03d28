"""Every table option once, and the parsed value of a table's options."""

from __future__ import annotations

from tablestore_engine.options.catalog import OPTIONS
from tablestore_engine.options.core import CoreOptions, find_option, spellings, validate
from tablestore_engine.options.option import Effect, Option, OptionType, parse_duration, parse_memory

__all__ = [
    "OPTIONS",
    "CoreOptions",
    "Effect",
    "Option",
    "OptionType",
    "find_option",
    "parse_duration",
    "parse_memory",
    "spellings",
    "validate",
]
