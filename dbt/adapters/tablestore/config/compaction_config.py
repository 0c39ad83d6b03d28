"""The config `compaction`: when a model's table is compacted, translated to options of the table.

It is a word, or a mapping with settings: `compaction: scheduled`, or
`compaction: {mode: scheduled, delta_commits: 10, trigger: 8}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.options import find_option, nearest_key

_MODES = {
    "auto": {"write-only": "false", "compaction.schedule.enabled": "false"},
    "scheduled": {"write-only": "false", "compaction.schedule.enabled": "true"},
    "none": {"write-only": "true", "compaction.schedule.enabled": "false"},
}
_TRIGGER = "num-sorted-run.compaction-trigger"


def compaction_options(compaction: Any) -> dict[str, str]:
    """The table options that a `compaction` config means; none for None.

    Raises DbtRuntimeError for an unknown mode or setting.
    """
    if compaction is None:
        return {}
    settings = compaction if isinstance(compaction, Mapping) else {"mode": compaction}
    settings = {key: value for key, value in settings.items() if value is not None}
    mode = settings.pop("mode", "auto")
    if mode not in _MODES:
        raise DbtRuntimeError(
            f"Config `compaction` is {' or '.join(repr(one) for one in _MODES)}, or a mapping with such a `mode`,"
            f" not {mode!r}."
        )
    options = dict(_MODES[mode])
    for key, value in settings.items():
        name = str(key).replace("_", "-")
        option = _TRIGGER if name == "trigger" else f"compaction.{name}"
        if find_option(option) is None:
            near = nearest_key(option)
            raise DbtRuntimeError(
                f"Config `compaction` has no setting {key!r}, because there is no table option '{option}'."
                + (f" Did you mean '{near}'?" if near else "")
            )
        options[option] = str(value)
    return options
