"""Starting a classic session: the JVM first, then PySpark's session on it.

Vocabulary: the *environment* is that of this process, which Spark's own scripts would read too; the *class path* is
what Spark's launcher would put together from it. Invariant: whatever only Spark's launcher can do is left to it, by
starting ``spark-submit`` instead of ``java``.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import os
import re
import shlex
import shutil
import sys
import sysconfig
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tablestore_engine.errors import EnvironmentProblem
from tablestore_engine.spark.session import session_cache
from tablestore_engine.spark.session.java import Java, find_java
from tablestore_engine.spark.session.jvm import (
    Command,
    Gateway,
    announced,
    direct_command,
    import_what_statements_need,
    remember_classes,
    start_jvm,
    submit_command,
)
from tablestore_engine.spark.session.session_archive import NO_ARCHIVE, archive_use, kind_of_jvm
from tablestore_engine.spark.session.session_config import (
    DRIVER_MEMORY,
    ENGINE,
    JAVA_OPTIONS,
    PAGE_SIZE,
    SCRATCH,
    Machine,
    SessionConfig,
    java_options,
    spark_settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Variables that Spark's scripts and its launcher read and a direct start would not.
_READ_BY_SCRIPTS = ("PYSPARK_SUBMIT_ARGS", "SPARK_DIST_CLASSPATH", "SPARK_SUBMIT_OPTS", "SPARK_DAEMON_MEMORY")
_WORKER_DAEMON = "tablestore_engine.spark.session.worker_daemon"
_LONGEST_ARGUMENT = 100_000  # characters; Linux takes 128 KiB


def start_classic(config: SessionConfig) -> SparkSession:
    """A new session in this process; starts its JVM unless one is left from an earlier session.

    Raises:
        JavaNotFoundError, JavaTooOldError: there is no Java to run on.
        EnvironmentProblem: the JVM or the session does not start.
    """
    environ = dict(os.environ)
    spark_home = _spark_home(environ)
    config = replace(config, spark_config={**_spark_defaults(environ, spark_home), **config.spark_config})
    cache = session_cache.cache_directory(config.cache_dir, environ)
    settings = _settings(config, cache)
    starts_jvm = os.name == "posix" and not _has_jvm()
    if config.is_local:
        environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # no look-up of this machine's name
        python = config.spark_config.get("spark.pyspark.python", sys.executable)
        os.environ.setdefault("PYSPARK_PYTHON", python)
        environ.setdefault("PYSPARK_PYTHON", python)
        if starts_jvm and environ["PYSPARK_PYTHON"] == sys.executable:
            environ["PYTHONPATH"] = _path_of_workers(environ)
            settings.setdefault("spark.python.daemon.module", _WORKER_DAEMON)
    gateway = None
    if starts_jvm:
        gateway = _launch(config, settings, environ, spark_home, cache)
    return _build(settings, gateway)


def _path_of_workers(environ: Mapping[str, str]) -> str:
    """Where Python workers look for modules: where they did, and where this engine is."""
    given = [path for path in [environ.get("PYTHONPATH")] if path]
    installed = os.path.dirname(ENGINE) == sysconfig.get_path("purelib")
    return os.pathsep.join(given if installed else [*given, os.path.dirname(ENGINE)])


def _settings(config: SessionConfig, cache: str | None) -> dict[str, str]:
    scratch = os.path.join(tempfile.gettempdir(), SCRATCH + uuid.uuid4().hex)
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    settings = spark_settings(config, Machine.here(), scratch)
    if settings.get("spark.scheduler.mode") == "FAIR":
        pools = session_cache.support_file(cache, "fair-scheduler.xml", session_cache.FAIR_SCHEDULER_XML)
        if pools:
            settings.setdefault("spark.scheduler.allocation.file", f"file://{pools}")
    return settings


def _has_jvm() -> bool:
    from pyspark import SparkContext

    return SparkContext._gateway is not None


def _build(settings: Mapping[str, str], gateway: Gateway | None) -> SparkSession:
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.config(map=dict(settings))
    try:
        with announced(gateway) if gateway else contextlib.nullcontext():
            session = builder.getOrCreate()
        remember_classes(session.sparkContext._jvm)
        return session
    except (PySparkException, OSError) as error:
        raise _start_failure(error, gateway) from error
    except Exception as error:
        if type(error).__module__.startswith("py4j"):
            raise _start_failure(error, gateway) from error
        raise


def _start_failure(error: Exception, gateway: Gateway | None) -> EnvironmentProblem:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    java_lines = [line.lstrip(": ") for line in lines if line.startswith(":")]  # py4j's mark for what Java said
    cause = (java_lines or lines or [repr(error)])[0]
    where = f" Its log: {gateway.log}." if gateway and gateway.log else ""
    return EnvironmentProblem(f"Spark did not start: {cause}{where}")


# ---------------------------------------------------------------------------------------------- the launch


def _launch(
    config: SessionConfig,
    settings: Mapping[str, str],
    environ: dict[str, str],
    spark_home: str,
    cache: str | None,
) -> Gateway:
    java = find_java(environ, cache)
    log = None if config.log_to_terminal else session_cache.new_log_file(cache)
    user_options = shlex.split(settings.get(JAVA_OPTIONS, ""))
    tuning = _tuning(config, settings, user_options, environ)
    options = [*_log_options(cache, user_options), *tuning, *user_options]
    commands = [
        submit_command(
            spark_home,
            {**settings, JAVA_OPTIONS: shlex.join(options)},
            shlex.split(environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell")),
        )
    ]
    if not _needs_submit(config, environ, spark_home):
        commands = [*_direct(config, settings, environ, spark_home, cache, java, options), *commands]
    return start_jvm(commands, environ, log, import_what_statements_need)


def _direct(
    config: SessionConfig,
    settings: Mapping[str, str],
    environ: Mapping[str, str],
    spark_home: str,
    cache: str | None,
    java: Java,
    options: Sequence[str],
) -> list[Command]:
    class_path = _class_path(environ, spark_home)
    all_options = [f"-Xmx{settings[DRIVER_MEMORY]}", *options]
    added = {} if _workers_find_pyspark(environ, spark_home) else {"SPARK_HOME": spark_home}
    plain = direct_command(java, class_path, all_options, added)
    use = NO_ARCHIVE
    if config.class_data_sharing and _may_share(class_path, all_options, environ):
        use = archive_use(cache, java, kind_of_jvm(java, class_path, options, environ))
    if use == NO_ARCHIVE:
        return [plain]
    return [direct_command(java, class_path, all_options, added, use), plain]


def _may_share(class_path: Sequence[str], options: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether the JVM can and the user lets it: archives know jars only, and a user's own archive goes first."""
    said = " ".join([*options, environ.get("JAVA_TOOL_OPTIONS", ""), environ.get("JDK_JAVA_OPTIONS", "")])
    return all(path.endswith(".jar") for path in class_path) and not any(
        word in said for word in ("-Xshare", "SharedArchive", "ArchiveClasses", "AOTCache", "-javaagent")
    )


def _tuning(
    config: SessionConfig, settings: Mapping[str, str], user_options: Sequence[str], environ: Mapping[str, str]
) -> tuple[str, ...]:
    if not config.is_local:
        return ()
    # Each relation that is broadcast for a join has settings of its own, from Java's properties alone. Without this one
    # each has a page of 64 MiB.
    page = f"-D{PAGE_SIZE}={settings[PAGE_SIZE]}"
    return (*java_options(user_options, environ, Machine.here()), page)


def _log_options(cache: str | None, user_options: Sequence[str]) -> list[str]:
    """Where Java writes: its log by our pattern, and the report of a crash not into the user's folder."""
    options = ["-XX:-CreateCoredumpOnCrash"]
    if cache:
        options.append(f"-XX:ErrorFile={os.path.join(cache, 'logs', 'hs_err_%p.log')}")
    path = session_cache.support_file(cache, "log4j2.properties", session_cache.LOG4J_PROPERTIES)
    if path and not any(re.search(r"log4j2?\.configurationFile", option) for option in user_options):
        options.append(f"-Dlog4j2.configurationFile=file:{path}")
    return options


def _needs_submit(config: SessionConfig, environ: Mapping[str, str], spark_home: str) -> bool:
    conf_dir = _conf_dir(environ, spark_home)
    return (
        config.needs_spark_submit
        or any(name in environ for name in _READ_BY_SCRIPTS)
        or os.path.exists(os.path.join(conf_dir, "spark-env.sh"))
        or not os.path.isdir(os.path.join(spark_home, "jars"))
    )


def _class_path(environ: Mapping[str, str], spark_home: str) -> list[str]:
    """Spark's jars in an order of our own: the launcher's wildcard takes whatever order the disk has."""
    jars_dir = os.path.join(spark_home, "jars")
    names = sorted(name for name in os.listdir(jars_dir) if name.endswith(".jar"))
    names.sort(key=lambda name: not name.startswith("slf4j-api-"))  # before the bridges, as the launcher has it
    jars = [os.path.join(jars_dir, name) for name in names]
    if sum(map(len, jars)) + len(jars) > _LONGEST_ARGUMENT:
        jars = [os.path.join(jars_dir, "*")]
    folders = [_conf_dir(environ, spark_home), environ.get("HADOOP_CONF_DIR"), environ.get("YARN_CONF_DIR")]
    present = [folder for folder in folders if folder and os.path.isdir(folder)]
    return [*present[:1], *jars, *present[1:]]


def _workers_find_pyspark(environ: Mapping[str, str], spark_home: str) -> bool:
    """Whether Python workers can import PySpark as installed.

    Else Spark gives them, by SPARK_HOME, its zip of it: without byte code, so that each first worker compiles it
    for a second.
    """
    return (
        "SPARK_HOME" not in environ
        and environ.get("PYSPARK_PYTHON") == sys.executable
        and os.path.dirname(spark_home) == sysconfig.get_path("purelib")
    )


def _conf_dir(environ: Mapping[str, str], spark_home: str) -> str:
    return environ.get("SPARK_CONF_DIR") or os.path.join(spark_home, "conf")


def _spark_home(environ: Mapping[str, str]) -> str:
    if environ.get("SPARK_HOME"):
        return environ["SPARK_HOME"]
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise EnvironmentProblem("PySpark is not installed.", hint="Install it with `pip install pyspark`.")
    return os.path.dirname(found.origin)


def _spark_defaults(environ: Mapping[str, str], spark_home: str) -> dict[str, str]:
    """The settings of the user's spark-defaults.conf."""
    try:
        with open(os.path.join(_conf_dir(environ, spark_home), "spark-defaults.conf"), encoding="utf-8") as file:
            lines = [line.strip() for line in file]
    except OSError:
        return {}
    pairs = [line.replace("=", " ", 1).split(None, 1) for line in lines if line and line[0] not in "#!"]
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2 and pair[0].startswith("spark.")}
