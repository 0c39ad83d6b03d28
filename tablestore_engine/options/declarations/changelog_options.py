"""Options of changelogs: the changes of a keyed table, which commits write to files of their own."""

from __future__ import annotations

from tablestore_engine.options.option import Option
from tablestore_engine.options.option_type import BOOLEAN, ENUM, FILE_NAME


class ChangelogOptions:
    """Which changes are recorded, and how."""

    __slots__ = ()

    changelog_producer = Option(
        "changelog-producer",
        ENUM,
        "none",
        "Which changes the commits of a table with a key write to changelog files: none; input (the rows of each write "
        "as they came); lookup (what each write changed, for which the state before is looked up); "
        "full-compaction (what each full compaction changed). Changes can be read without, too.",
        choices=("none", "input", "lookup", "full-compaction"),
    )
    change_tracking = Option(
        "change-tracking",
        BOOLEAN,
        True,
        "Write the changes that `changelog-producer` asks for. In a hint of INSERT, for its rows alone.",
        ours=True,
    )
    changelog_file_prefix = Option(
        "changelog-file.prefix", FILE_NAME, "changelog-", "First part of the names of changelog files."
    )
