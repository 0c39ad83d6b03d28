"""The suite's raw statements, written for Postgres, in Spark's words."""

from __future__ import annotations

import re

import pytest


def sparkish(text: str) -> str:
    """Names without a database, Spark's type names, times without a zone."""
    text = re.sub(r"(\{database\}|`None`|None|\{\{ ?target\.database ?\}\})\.", "", text)
    text = re.sub(r"timestamp( without time zone)?(?=[\s,);]|$)", "timestamp_ntz", text, flags=re.IGNORECASE)
    return re.sub(r"\btext\b", "string", text, flags=re.IGNORECASE)


class Sparkish:
    """Sends what a test runs on the project through `sparkish`."""

    @pytest.fixture(scope="class")
    def project(self, project):
        run = project.run_sql
        project.run_sql = lambda sql, fetch=None: run(sparkish(sql), fetch=fetch)
        return project
