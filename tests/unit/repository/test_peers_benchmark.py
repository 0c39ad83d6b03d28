"""The benchmark of other engines says what it needs before it makes rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("fetched", [False, True])
def test_without_maven_it_ends_before_it_makes_rows(tmp_path, fetched):
    if fetched:
        (tmp_path / "peers" / "delta").mkdir(parents=True)
        (tmp_path / "peers" / "delta" / "fetched").touch()
    command = [sys.executable, "-m", "benchmarks.peers", "--folder", tmp_path / "peers", "--data", tmp_path / "data"]
    engines = "delta-cow,iceberg-cow"
    done = subprocess.run(
        [*command, "--engines", engines], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": str(tmp_path)},
    )  # fmt: skip
    missing = "iceberg-cow" if fetched else "delta-cow, iceberg-cow"
    assert done.returncode == 1
    assert done.stderr.startswith(f"The jars of {missing} are fetched by Maven, and no mvn was found by the PATH.")
    assert not (tmp_path / "data").exists()
