"""Which sessions use, make and remove the archive of classes; a shell script plays the JVM."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tablestore_engine.spark.session.java import Java
from tablestore_engine.spark.session.session_archive import NO_ARCHIVE, archive_use, give_up, kind_of_jvm

JAVA = Java("/usr/bin/java", 17, "17.0.15+6")


def run_jvm(use, script='echo classes > "$made"'):
    """What a JVM started with `use` does: `script` with the file to make in $made."""
    made = use.options[1].split("=", 1)[1]
    command = [*use.prefix, "/bin/sh", "-c", f'made="{made}"; {script}']
    return subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode


def in_classes(folder):
    return sorted(os.listdir(os.path.join(folder, "classes")))


def test_the_first_makes_it_and_the_next_ones_use_it(folder):
    first = archive_use(folder, JAVA, "k")
    assert any(option.startswith("-XX:ArchiveClassesAtExit=") for option in first.options)
    assert run_jvm(first) == 0
    assert in_classes(folder) == ["k.jsa", "k.seal"]
    for _ in range(2):
        use = archive_use(folder, JAVA, "k")
        assert f"-XX:SharedArchiveFile={folder}/classes/k.jsa" in use.options
        assert use.prefix == ()


def test_of_those_that_race_one_makes_it(folder):
    uses = [archive_use(folder, JAVA, "k") for _ in range(4)]
    assert [use != NO_ARCHIVE for use in uses] == [True, False, False, False]


def test_a_claim_of_a_process_that_was_killed_runs_out(folder):
    assert archive_use(folder, JAVA, "k") != NO_ARCHIVE
    (claim,) = Path(folder, "classes").glob("*.claim")
    claimed_at = claim.stat().st_mtime
    assert archive_use(folder, JAVA, "k", now=claimed_at + 30) == NO_ARCHIVE
    assert archive_use(folder, JAVA, "k", now=claimed_at + 90) != NO_ARCHIVE


def test_a_process_that_runs_for_long_holds_up_no_other(folder):
    long = archive_use(folder, JAVA, "k")
    quick = _by_another_process(archive_use(folder, JAVA, "k", now=time.time() + 90))
    assert run_jvm(quick, 'echo quick > "$made"') == 0
    assert run_jvm(long, 'echo long > "$made"') == 0
    assert in_classes(folder) == ["k.jsa", "k.seal"]
    assert Path(folder, "classes", "k.jsa").read_text() == "quick\n"
    assert archive_use(folder, JAVA, "k").archive is not None


def _by_another_process(use):
    """The same, with the name that another process would give to what it makes."""
    own, other = f".{os.getpid()}.making", ".1.making"
    return replace(
        use,
        options=tuple(one.replace(own, other) for one in use.options),
        prefix=tuple(one.replace(own, other) for one in use.prefix),
    )


def test_another_kind_has_an_archive_of_its_own(folder):
    run_jvm(archive_use(folder, JAVA, "k"))
    assert archive_use(folder, JAVA, "other").archive is None


@pytest.mark.parametrize("script", ['echo half > "$made"; exit 1', 'echo half > "$made"; kill -9 $$', "exit 0"])
def test_a_jvm_that_ends_badly_leaves_no_archive(folder, script):
    run_jvm(archive_use(folder, JAVA, "k"), script)
    assert in_classes(folder) == ["k.failed"]
    assert archive_use(folder, JAVA, "k") == NO_ARCHIVE  # not again and again
    assert archive_use(folder, JAVA, "k", now=time.time() + 2 * 3600) != NO_ARCHIVE


def test_the_exit_code_is_the_jvms(folder):
    assert run_jvm(archive_use(folder, JAVA, "k"), "exit 3") == 3


@pytest.mark.parametrize("damage", ["truncate", "overwrite", "unseal", "garble the seal"])
def test_a_damaged_archive_is_removed_and_made_anew(folder, damage):
    run_jvm(archive_use(folder, JAVA, "k"))
    archive, seal = (os.path.join(folder, "classes", name) for name in ("k.jsa", "k.seal"))
    if damage == "truncate":
        os.truncate(archive, 3)
    elif damage == "overwrite":
        with open(archive, "r+") as file:
            file.write("garbled")
        os.utime(archive, (time.time() + 5, time.time() + 5))
    elif damage == "unseal":
        os.unlink(seal)
    else:
        with open(seal, "w") as file:
            file.write("?")
    use = archive_use(folder, JAVA, "k")
    assert use.claim is not None
    assert in_classes(folder) == ["k.claim"]


def test_an_unused_archive_is_removed(folder):
    making = archive_use(folder, JAVA, "k")
    give_up(making)
    assert in_classes(folder) == []
    run_jvm(archive_use(folder, JAVA, "k"))
    give_up(archive_use(folder, JAVA, "k"))
    assert in_classes(folder) == []
    give_up(NO_ARCHIVE)


def test_old_archives_make_room(folder):
    for number in range(5):
        run_jvm(archive_use(folder, JAVA, f"k{number}"))
        seal = os.path.join(folder, "classes", f"k{number}.seal")
        os.utime(seal, (1000 + number, os.stat(seal).st_mtime))
    archive_use(folder, JAVA, "k3", now=5000.0)  # used last
    archive_use(folder, JAVA, "new")
    assert in_classes(folder) == ["k3.jsa", "k3.seal", "k4.jsa", "k4.seal", "new.claim"]


def test_leftovers_of_a_killed_process_are_removed_a_day_later(folder):
    os.makedirs(os.path.join(folder, "classes"))
    left = os.path.join(folder, "classes", "k.123.making")
    with open(left, "w") as file:
        file.write("half")
    archive_use(folder, JAVA, "a")
    assert os.path.exists(left)
    archive_use(folder, JAVA, "b", now=time.time() + 2 * 24 * 3600)
    assert not os.path.exists(left)


def test_without_a_cache_there_is_no_archive(tmp_path):
    assert archive_use(None, JAVA, "k") == NO_ARCHIVE
    (tmp_path / "classes").write_text("a file where the folder should be")
    assert archive_use(str(tmp_path), JAVA, "k") == NO_ARCHIVE


def test_java_24_calls_the_topic_of_its_warnings_by_another_name(folder):
    assert "-Xlog:aot*=off" in archive_use(folder, Java("/j", 25, "25"), "k").options
    assert "-Xlog:aot*=off" not in archive_use(folder, JAVA, "k2").options


def test_a_kind_is_java_jars_and_options(tmp_path):
    jar = tmp_path / "spark.jar"
    jar.write_text("one")
    base = {"java": JAVA, "class_path": [str(jar)], "options": ["-XX:+UseSerialGC"], "environ": {}}
    kind = kind_of_jvm(**base)
    assert kind == kind_of_jvm(**base)
    others = [
        {**base, "java": Java("/usr/bin/java", 17, "17.0.16+1")},
        {**base, "class_path": [str(jar), "/more.jar"]},
        {**base, "options": ["-XX:+UseG1GC"]},
        {**base, "environ": {"JAVA_TOOL_OPTIONS": "-Xss4m"}},
    ]
    assert len({kind, *(kind_of_jvm(**other) for other in others)}) == 5
    jar.write_text("another release")
    assert kind_of_jvm(**base) != kind
