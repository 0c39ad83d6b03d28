"""What a whole `dbt run` leaves in the terminal and in the folder: dbt's own lines and files, nothing of Spark's."""

from __future__ import annotations

import os
import re

import pytest
import yaml
from support.dbt_process import run_dbt_process

pytestmark = pytest.mark.slow

PROJECT = {"name": "tiny", "version": "1.0", "profile": "tiny", "model-paths": ["models"]}
PROFILE = {
    "type": "tablestore",
    "warehouse": "./warehouse",
    "schema": "dev",
    "threads": 2,
    "master": "local[2]",
    "class_data_sharing": False,
    "spark_config": {"spark.sql.shuffle.partitions": 2, "spark.driver.memory": "1g"},
}
TABLE = "{{ config(materialized='table') }} "
MODELS = {
    "good": TABLE.replace("'table'", "'table', table_options={'num-levels': 4}")
    + "select id, id % 3 as third from range(10)",
    "seen": "select third, count(*) as n from {{ ref('good') }} group by third",
    "unresolved": TABLE + "select nothing from {{ ref('good') }}",
    "misspelt": TABLE + "selekt 1",
    # Fails in a task of Spark's, which is what fills Spark's log.
    "raised": TABLE + "select cast(concat('x', id) as int) as id from {{ ref('good') }}",
}
OF_SPARK = re.compile(
    r"\b(WARN|ERROR|INFO)\b (?!creating|=)[\w.$]+:|^WARNING|\bpy4j\b|Py4J|Traceback|\bat org\.apache|org\.apache\.spark"
    r"|^\s+at [\w.$/]+\(|\.(scala|java):\d+|JVM stacktrace|Setting default log level|log4j|SLF4J|incubator"
    r"|Picked up|Using Spark's default|\[Stage |Hive|Derby|'Project|\+- ",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The folder, the cache, the exit code and the output of one run in an empty folder."""
    folder, cache = tmp_path_factory.mktemp("empty"), tmp_path_factory.mktemp("cache")
    (folder / "models").mkdir()
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(PROJECT))
    profiles = {"tiny": {"outputs": {"dev": PROFILE}, "target": "dev"}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))
    for name, text in MODELS.items():
        (folder / "models" / f"{name}.sql").write_text(text)
    code, output = run_dbt_process(["run", "--profiles-dir", "."], folder, cache)
    return folder, cache, code, output


def test_a_note_on_an_option_is_one_line(run):
    _, _, _, output = run
    (line,) = [one for one in output.splitlines() if "no effect without" in one]
    assert line.endswith("tablestore adapter: Option 'num-levels' has no effect without a primary key."), line


def test_each_failure_is_one_message(run):
    _, _, code, output = run
    assert code == 1, output
    assert "Done. PASS=2 WARN=0 ERROR=3 SKIP=0" in output
    errors = output[output.index("Completed with 3 errors") :]
    assert "`nothing` cannot be resolved" in errors
    assert "'selekt'" in errors
    assert "'x0'" in errors


def test_nothing_of_spark_comes_to_the_terminal(run):
    output = run[3]
    found = [line for line in output.splitlines() if OF_SPARK.search(line)]
    assert not found, output
    # Every line is dbt's: with the time in front, or part of a message below `Database Error`.
    head = output[: output.index("Completed with 3 errors")]
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) or line.startswith("  ") for line in head.splitlines() if line)


def test_nothing_of_spark_stays_in_the_folder(run):
    folder = run[0]
    found = set(os.listdir(folder)) - {".user.yml"}  # dbt's own; whether it is written depends on dbt's settings
    assert found == {"dbt_project.yml", "profiles.yml", "models", "target", "logs", "warehouse"}
    assert os.listdir(folder / "logs") == ["dbt.log"]
    assert set(os.listdir(folder / "warehouse")) == {"dev.db"}
    assert {one for one in os.listdir(folder / "warehouse" / "dev.db") if not one.startswith(".")} == {"good"}


def test_spark_had_something_to_say_and_said_it_in_the_cache(run):
    """Else the tests above would show nothing."""
    cache = run[1] / "dbt-tablestore"
    (log,) = (cache / "logs").glob("spark-*.log")
    text = log.read_text()
    assert "WARN" in text
    assert "Exception in task" in text
    assert "\tat org.apache.spark" in text


def test_the_profile_turned_the_archive_of_classes_off(run):
    assert not (run[1] / "dbt-tablestore" / "classes").exists()
