"""Every table option, declared once as a typed descriptor, and the parsed options of one table.

``option`` says what a declaration is, ``option_type`` how texts become values, ``declarations`` holds all of them.
``all_options`` finds the option of a key; ``core_options`` parses a table's options. Nothing here knows more of the
engine than its errors.
"""

from __future__ import annotations

from tablestore_engine.options.all_options import DECLARED, OPTIONS, find_option, nearest_key, notes_of, spellings
from tablestore_engine.options.core_options import CoreOptions, validate
from tablestore_engine.options.declarations.changelog_options import ChangelogOptions
from tablestore_engine.options.declarations.commit_options import CommitOptions
from tablestore_engine.options.declarations.file_options import FileOptions
from tablestore_engine.options.declarations.layout_options import LayoutOptions
from tablestore_engine.options.declarations.log_options import LogOptions
from tablestore_engine.options.declarations.merge_options import MergeOptions
from tablestore_engine.options.option import ColumnOption, Effect, Option, TableOption
from tablestore_engine.options.option_type import parse_duration, parse_memory

__all__ = [
    "DECLARED",
    "OPTIONS",
    "ChangelogOptions",
    "ColumnOption",
    "CommitOptions",
    "CoreOptions",
    "Effect",
    "FileOptions",
    "LayoutOptions",
    "LogOptions",
    "MergeOptions",
    "Option",
    "TableOption",
    "find_option",
    "nearest_key",
    "notes_of",
    "parse_duration",
    "parse_memory",
    "spellings",
    "validate",
]
