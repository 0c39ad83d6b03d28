"""`make pythons` says on which Pythons it ran the tests and which it skipped; a fake make runs none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from support.repository import ROOT

MINE = f"{sys.version_info.major}.{sys.version_info.minor}"
OTHERS = [one for one in ("3.10", "3.11", "3.12", "3.13") if one != MINE]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell script")


@pytest.fixture
def play(tmp_path):
    """Runs the script where only this Python is to be found, under `names`, with a make that ends with `code`."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "dirname"):
        (tools / tool).symlink_to(shutil.which(tool))
    make = tools / "make"
    make.write_text(f'#!{shutil.which("sh")}\necho "make $*"\nexit $CODE\n')
    make.chmod(0o755)

    def run(*names, code=0, arguments=()):
        for name in names:
            (tools / name).symlink_to(sys.executable)
        done = subprocess.run(
            [shutil.which("sh"), os.path.join(ROOT, "scripts", "pythons.sh"), *arguments],
            env={"PATH": str(tools), "HOME": str(tmp_path), "CODE": str(code), "VENV": "env"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout.splitlines()

    return run


def test_says_what_it_ran_and_what_it_skipped(play):
    code, said = play(f"python{MINE}")
    assert code == 0
    assert said[-2:] == [
        f"Passed on Python: {MINE}",
        f"Skipped, because there is none here: Python {' '.join(OTHERS)}",
    ]
    (made,) = [line for line in said if line.startswith("make ")]
    assert f"VENV=env-{MINE} " in made
    assert made.endswith(" test-unit")


def test_the_lowest_is_found(play):
    code, (found,) = play(f"python{MINE}", arguments=["lowest"])
    assert code == 0
    assert os.path.basename(found) == f"python{MINE}"


def test_a_failure_is_printed_and_returned(play):
    code, said = play(f"python{MINE}", code=2)
    assert code == 1
    assert f"FAILED on Python: {MINE}" in said


def test_an_interpreter_of_another_version_under_the_name_does_not_count(play):
    code, said = play(*(f"python{other}" for other in OTHERS))
    assert code == 1
    assert said[-1] == "Skipped, because there is none here: Python 3.10 3.11 3.12 3.13"
