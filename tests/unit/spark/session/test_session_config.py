"""The decisions about settings, which need no JVM."""

from __future__ import annotations

import pytest

from tablestore_engine.spark.session.session_config import (
    GIB,
    REQUIRED_SETTINGS,
    Machine,
    SessionConfig,
    driver_memory,
    java_options,
    shuffle_partitions,
    spark_settings,
)

LAPTOP = Machine(cores=8, memory=16 * GIB)


def settings_of(**wish):
    return spark_settings(SessionConfig(**wish), LAPTOP, "/tmp/scratch")


def test_a_local_session_is_quiet_and_needs_no_network():
    settings = settings_of()
    assert settings["spark.master"] == "local[*]"
    assert settings["spark.ui.enabled"] == "false"
    assert settings["spark.ui.showConsoleProgress"] == "false"
    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.sql.catalogImplementation"] == "in-memory"
    assert settings["spark.sql.warehouse.dir"] == "/tmp/scratch"
    assert settings["spark.driver.memory"] == "4096m"


def test_settings_that_change_answers_keep_spark_s_defaults():
    assert not {"spark.sql.ansi.enabled", "spark.sql.session.timeZone"} & set(settings_of())


def test_the_user_wins():
    mine = {"spark.ui.enabled": "true", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "3"}
    settings = settings_of(spark_config=mine)
    assert {key: settings[key] for key in mine} == mine


def test_finished_queries_are_kept_only_for_the_user_interface():
    seen = settings_of(spark_config={"spark.ui.enabled": "true"})
    assert "spark.sql.ui.retainedExecutions" not in seen
    mine = settings_of(spark_config={"spark.ui.retainedJobs": "7"})
    assert (mine["spark.sql.ui.retainedExecutions"], mine["spark.ui.retainedJobs"]) == ("50", "7")


def test_a_cluster_sizes_its_own_driver_and_shuffles():
    settings = settings_of(master="spark://host:7077")
    assert settings["spark.master"] == "spark://host:7077"
    assert not {"spark.driver.memory", "spark.sql.shuffle.partitions", "spark.driver.host"} & set(settings)
    assert REQUIRED_SETTINGS.items() <= settings.items()


def test_the_master_may_come_from_the_settings():
    assert settings_of(spark_config={"spark.master": "local[3]"})["spark.master"] == "local[3]"
    assert settings_of(master="local[2]", spark_config={"spark.master": "local[3]"})["spark.master"] == "local[2]"


@pytest.mark.parametrize(
    ("memory", "heap"), [(2 * GIB, GIB), (4 * GIB, GIB), (16 * GIB, 4 * GIB), (256 * GIB, 8 * GIB)]
)
def test_the_heap_is_a_share_of_the_machine(memory, heap):
    assert driver_memory(Machine(cores=2, memory=memory)) == heap


def test_pages_fit_small_tables_unless_the_user_says_otherwise():
    assert settings_of()["spark.buffer.pageSize"] == "4m"
    sized = settings_of(spark_config={"spark.driver.memory": "6g"})
    assert (sized["spark.driver.memory"], sized["spark.buffer.pageSize"]) == ("6g", "4m")
    assert settings_of(spark_config={"spark.buffer.pageSize": "1m"})["spark.buffer.pageSize"] == "1m"
    assert "spark.buffer.pageSize" not in settings_of(master="spark://host:7077")


@pytest.mark.parametrize(("cores", "partitions"), [(1, 8), (2, 8), (8, 32), (96, 200)])
def test_shuffles_grow_with_the_cores(cores, partitions):
    assert shuffle_partitions(Machine(cores=cores, memory=GIB)) == partitions


@pytest.mark.parametrize(
    ("wish", "local", "submit"),
    [
        ({}, True, False),
        ({"master": "local"}, True, False),
        ({"master": "local[4]"}, True, False),
        ({"master": "local-cluster[2,1,1024]"}, False, True),
        ({"master": "yarn"}, False, True),
        ({"remote": "sc://host"}, False, True),
        ({"spark_config": {"spark.jars.packages": "a:b:1"}}, True, True),
        ({"spark_config": {"spark.driver.extraClassPath": "/x.jar"}}, True, True),
        ({"spark_config": {"spark.sql.ansi.enabled": "false"}}, True, False),
    ],
)
def test_some_settings_need_spark_submit(wish, local, submit):
    config = SessionConfig(**wish)
    assert (config.is_local, config.needs_spark_submit) == (local, submit)


def test_two_collectors_would_keep_the_jvm_from_starting():
    small = Machine(cores=2, memory=GIB)
    assert "-XX:+UseSerialGC" in java_options([], {}, small)
    assert "-XX:+UseParallelGC" in java_options([], {}, LAPTOP)
    assert "-XX:+UseSerialGC" not in java_options(["-XX:+UseZGC"], {}, small)
    assert "-XX:+UseSerialGC" not in java_options([], {"JAVA_TOOL_OPTIONS": "-Xss2m -XX:+UseG1GC"}, small)


def test_this_machine_has_something_to_offer():
    here = Machine.here()
    assert here.cores >= 1
    assert here.memory >= GIB // 4
