"""The engine's warnings in dbt's log."""

from __future__ import annotations

import io
import logging

from dbt.adapters.tablestore.connection.engine_log import EngineLog, show_engine_warnings


def test_warnings_of_the_engine_are_shown_once(monkeypatch):
    said = []
    monkeypatch.setattr("dbt.adapters.events.logging.AdapterLogger.warning", lambda _self, text: said.append(text))
    log = logging.getLogger("tablestore_engine")
    before = list(log.handlers)
    # As snowplow_tracker adds one, which dbt imports.
    root, stream = logging.getLogger(), logging.StreamHandler(io.StringIO())
    root.addHandler(stream)
    log.handlers[:] = [one for one in before if not isinstance(one, EngineLog)]
    try:
        show_engine_warnings()
        show_engine_warnings()
        logging.getLogger("tablestore_engine.sql").warning("Option '%s' is kept.", "x")
        logging.getLogger("tablestore_engine.sql").info("nothing to see")
        logging.getLogger("tablestore_engines").warning("of another package")
    finally:
        log.handlers[:] = before
        root.removeHandler(stream)
    assert said == ["Option 'x' is kept."]
    assert stream.stream.getvalue() == "of another package\n", "a stream of the root logger does not repeat them"
