"""The archive of classes that makes a JVM start fast, left by an earlier run in the user's cache.

Vocabulary: an *archive* holds the parsed and verified classes of one *kind* of JVM: same Java, same jars, same options.
The first process of a kind *claims* it, and its JVM *makes* the archive while it exits, after Python has ended; later
ones *use* it. The *seal* holds an archive's size and is younger than it; an archive that does not fit its seal was
damaged and is removed.

Invariants: an archive appears under its name complete or not at all, because a shell around the JVM renames it once
the JVM has ended well; any number of processes may race: of those that start together one makes it, and the first that
ends leaves its own; whatever is wrong with an archive, the JVM starts without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablestore_engine.spark.session.java import Java

_LAYOUT = "1"  # part of every name: raise it when archives of earlier releases must not be used
_KEPT = 3
_CLAIM_SECONDS = 60  # one this old may belong to a process that was killed, or that runs for long: others need not wait
_RETRY_SECONDS = 3600  # after a JVM that could not make its archive

# Runs the JVM, then publishes what it made; the JVM inherits stdin, so it still ends with the Python process.
_PUBLISH = """\
made=$1 stem=$2; shift 2
"$@"; code=$?
if [ -e "$stem.jsa" ]
then rm -f "$made"
elif [ $code -eq 0 ] && [ -s "$made" ] && chmod 600 "$made" && wc -c < "$made" > "$stem.seal"
then mv -f "$made" "$stem.jsa"
else rm -f "$made"; : > "$stem.failed"
fi
rm -f "$stem.claim"
exit $code
"""


@dataclass(frozen=True)
class ArchiveUse:
    """The additions of an archive to the start of a JVM: options, and words in front of its command."""

    options: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    archive: str | None = None  # the one that is used; None while it is being made
    claim: str | None = None  # the claim that is held to make it


NO_ARCHIVE = ArchiveUse()


def kind_of_jvm(java: Java, class_path: Sequence[str], options: Sequence[str], environ: Mapping[str, str]) -> str:
    """A short text that is equal for two JVMs exactly when they can share an archive."""
    facts = [
        _LAYOUT,
        sys.platform,
        platform.machine(),
        java.build,
        _identity(os.path.realpath(java.executable)),
        *(f"{name}={environ.get(name, '')}" for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS")),
        *options,
        *(_identity(path) for path in class_path),
    ]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:20]


def _identity(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def archive_use(cache: str | None, java: Java, kind: str, now: float | None = None) -> ArchiveUse:
    """Use the archive of this kind, make it, or do without.

    Args:
        cache: the user's cache folder; without one nothing is archived.
        java: decides between the options of old and new JVMs.
        kind: from ``kind_of_jvm``.
        now: seconds since the epoch.
    """
    if cache is None or os.name != "posix":
        return NO_ARCHIVE
    now = time.time() if now is None else now
    folder = os.path.join(cache, "classes")
    stem = os.path.join(folder, kind)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if _is_sound(f"{stem}.jsa", f"{stem}.seal", now):
            return ArchiveUse(_using(java, f"{stem}.jsa"), archive=f"{stem}.jsa")
        if _is_recent(f"{stem}.failed", now - _RETRY_SECONDS) or not _claim(f"{stem}.claim", now):
            return NO_ARCHIVE
        _prune(folder, now)
    except OSError:
        return NO_ARCHIVE
    made = f"{stem}.{os.getpid()}.making"
    prefix = ("/bin/sh", "-c", _PUBLISH, "sh", made, stem)
    return ArchiveUse(_making(java, made), prefix, claim=f"{stem}.claim")


def give_up(use: ArchiveUse) -> None:
    """After a JVM that did not start: removes the archive that it used, or the claim to make one."""
    paths = [use.claim] if use.claim else []
    if use.archive:
        paths += [use.archive, use.archive[: -len(".jsa")] + ".seal"]
    for path in paths:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _using(java: Java, archive: str) -> tuple[str, ...]:
    return ("-Xshare:auto", f"-XX:SharedArchiveFile={archive}", *_silence(java))


def _making(java: Java, archive: str) -> tuple[str, ...]:
    return ("-Xshare:auto", f"-XX:ArchiveClassesAtExit={archive}", *_silence(java))


def _silence(java: Java) -> tuple[str, ...]:
    # One line for each of some hundred classes that cannot be archived, which harms nothing. Java 24 renamed the topic.
    return ("-Xlog:cds*=off", "-Xlog:aot*=off") if java.version >= 24 else ("-Xlog:cds*=off",)


def _is_sound(archive: str, seal: str, now: float) -> bool:
    """Whether the archive is there and as its maker left it; removes it when it is not."""
    try:
        status = os.stat(archive)
    except FileNotFoundError:
        return False
    with contextlib.suppress(FileNotFoundError, ValueError):
        sealed = os.stat(seal)
        with open(seal, encoding="ascii") as file:
            if int(file.read()) == status.st_size and status.st_mtime_ns <= sealed.st_mtime_ns:
                os.utime(seal, ns=(int(now * 1e9), sealed.st_mtime_ns))  # read just now: pruning spares it
                return True
    for path in (archive, seal):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    return False


def _claim(path: str, now: float) -> bool:
    if os.path.exists(path) and not _is_recent(path, now - _CLAIM_SECONDS):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    return True


def _is_recent(path: str, since: float) -> bool:
    try:
        return os.stat(path).st_mtime >= since
    except FileNotFoundError:
        return False


def _prune(folder: str, now: float) -> None:
    """Keeps the archives that were used last, and nothing that an interrupted process left half made."""
    names = os.listdir(folder)
    stems = {name[: -len(".jsa")] for name in names if name.endswith(".jsa")}
    by_use = sorted(stems, key=lambda stem: _last_use(os.path.join(folder, stem)), reverse=True)
    doomed = set(by_use[_KEPT - 1 :])
    old = now - 24 * 3600
    for name in names:
        path = os.path.join(folder, name)
        stem = name.split(".", 1)[0]
        orphaned = stem not in stems and not name.endswith(".claim") and not _is_recent(path, old)
        if stem in doomed or orphaned:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _last_use(stem: str) -> float:
    try:
        return os.stat(f"{stem}.seal").st_atime
    except FileNotFoundError:
        return 0.0
