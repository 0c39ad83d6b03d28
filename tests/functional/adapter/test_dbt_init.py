"""`dbt init` asks for the profile; with the answers, or with the defaults alone, everything works at once."""

from __future__ import annotations

import glob
from pathlib import Path

import dbt.version
import psutil
import pytest
import yaml
from support.dbt_process import ROOT, run_dbt_process

from tablestore_engine.catalog import Catalog

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path):
    """A folder to work in and, elsewhere, an empty cache and the packages of an installation."""
    for name in ("work", "cache", "packages"):
        (tmp_path / name).mkdir()
    install(tmp_path / "packages")
    yield tmp_path
    for process in psutil.process_iter(["cmdline"]):  # nobody waits for the classes that a JVM leaves
        if any(str(tmp_path / "cache") in word for word in process.info["cmdline"] or ()):
            process.kill()


def install(packages):
    """Puts this adapter into the folder of dbt's adapters, like pip: `dbt init` offers only adapters that it finds.

    From a clone that is installed as editable it would not be offered, nor be named by `dbt --version`.
    """
    installed = Path(dbt.version.__file__).parent
    link(installed, packages / "dbt", apart=("adapters", "include"))
    for part in ("adapters", "include"):
        link(installed / part, packages / "dbt" / part, apart=("tablestore",))
        (packages / "dbt" / part / "tablestore").symlink_to(ROOT / "dbt" / part / "tablestore")


def link(source, target, apart):
    target.mkdir()
    for one in source.iterdir():
        if one.name not in (*apart, "__pycache__"):
            (target / one.name).symlink_to(one)


def number(folder):
    """The adapters before this one in the list of `dbt init`."""
    versions = glob.glob(str(folder / "packages" / "dbt" / "adapters" / "*" / "__version__.py"))
    return [Path(one).parent.name for one in versions].index("tablestore") + 1


def run(folder, *arguments, inside="", answers=""):
    profiles = ["--profiles-dir", str(folder / "work")]
    inside = folder / "work" / inside
    return run_dbt_process([*arguments, *profiles], inside, folder / "cache", answers, folder / "packages")


def init(folder, *answers):
    code, output = run(folder, "init", "my_project", answers="\n".join([str(number(folder)), *answers]) + "\n")
    assert code == 0, output
    return output, yaml.safe_load((folder / "work" / "profiles.yml").read_text())


def test_with_the_defaults_the_new_project_runs(folder):
    output, profiles = init(folder, "", "", "")
    for asked in ("warehouse (folder that will hold the tables", "schema (", "threads (models to build at once)"):
        assert asked in output
    target = {"type": "tablestore", "warehouse": "./warehouse", "schema": "analytics", "threads": 4}
    assert profiles == {"my_project": {"outputs": {"dev": target}, "target": "dev"}}

    code, output = run(folder, "debug", inside="my_project")
    assert code == 0, output
    assert "All checks passed!" in output

    code, output = run(folder, "run", inside="my_project")
    assert code == 0, output
    assert "Completed successfully" in output
    catalog = Catalog(folder / "work" / "my_project" / "warehouse")
    assert catalog.object_kind("analytics", "my_first_dbt_model") == "table"
    assert catalog.object_kind("analytics", "my_second_dbt_model") == "view"
    rows = catalog.load_table("analytics", "my_first_dbt_model").to_arrow().to_pylist()
    assert sorted(row["id"] or 0 for row in rows) == [0, 1]

    # Nothing in this profile forbids it: the next start has classes to share, or will have once they are written.
    assert list((folder / "cache" / "dbt-tablestore" / "classes").iterdir())


def test_answers_go_into_the_profile_and_wrong_ones_are_asked_for_again(folder):
    warehouse = folder / "elsewhere"
    output, profiles = init(folder, str(warehouse), "mart", "many", "2")
    assert "Error: 'many' is not a valid integer" in output
    target = {"type": "tablestore", "warehouse": str(warehouse), "schema": "mart", "threads": 2}
    assert profiles["my_project"]["outputs"]["dev"] == target
    code, output = run(folder, "debug", inside="my_project")
    assert code == 0, output
    assert f"warehouse: {warehouse}" in output
    assert "schema: mart" in output
