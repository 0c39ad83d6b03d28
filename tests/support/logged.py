"""What the engine logged in a test, without the lines to which dbt's logger turns the same records."""

from __future__ import annotations

import pytest


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The messages of the engine's loggers, in order."""
    return [one.getMessage() for one in caplog.records if one.name.startswith("tablestore_engine")]
