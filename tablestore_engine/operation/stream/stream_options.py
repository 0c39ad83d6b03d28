"""The options of a streaming read, with Paimon's names: where it begins, how much it reads at once, its consumer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tablestore_engine.errors import OptionError, did_you_mean
from tablestore_engine.operation.stream.pieces import Piece
from tablestore_engine.options import CoreOptions, validate

MODE, SNAPSHOT, TIMESTAMP = "scan.mode", "scan.snapshot-id", "scan.timestamp-millis"
CONSUMER, IGNORE_PROGRESS = "consumer-id", "consumer.ignore-progress"
MOST_FILES, MOST_ROWS = "read.stream.maxFilesPerTrigger", "read.stream.maxRowsPerTrigger"
_OF_TABLE = (CONSUMER, IGNORE_PROGRESS, MOST_FILES, MOST_ROWS)
OPTIONS = (MODE, SNAPSHOT, TIMESTAMP, *_OF_TABLE)
"""The options of a streaming read. The last four may also be options of the table."""
MODES = ("default", "latest-full", "full", "latest", "from-snapshot", "from-timestamp")
_NEEDS = {"from-snapshot": SNAPSHOT, "from-timestamp": TIMESTAMP}


@dataclass(frozen=True)
class Limits:
    """At most so many files and rows are read at once; None is no limit."""

    files: int | None = None
    rows: int | None = None

    @property
    def unlimited(self) -> bool:
        """Whether there is no limit at all."""
        return self.files is None and self.rows is None

    def hold(self, files: int, rows: int) -> bool:
        """Whether so much may be read at once."""
        return (self.files is None or files <= self.files) and (self.rows is None or rows <= self.rows)

    def first(self, pieces: Sequence[Piece]) -> int:
        """How many pieces, from the first, are read at once: as many as the limits hold, and at least one."""
        files = rows = 0
        for number, piece in enumerate(pieces):
            files, rows = files + piece.files, rows + piece.rows
            if number and not self.hold(files, rows):
                return number
        return len(pieces)


@dataclass(frozen=True)
class StreamOptions:
    """The request of a streaming read.

    Attributes:
        mode: `latest-full` (all rows of the latest snapshot, then changes), `latest` (changes from now on),
            `from-snapshot` or `from-timestamp` (changes from one on, inclusive).
        snapshot: of `from-snapshot`.
        millis: of `from-timestamp`: milliseconds since 1970.
        consumer: under which name the table notes how far the stream has read.
        ignore_progress: whether a new stream begins as `mode` says even if its consumer has read before.
        limits: what one batch reads at most.
    """

    mode: str = "latest-full"
    snapshot: int = 0
    millis: int = 0
    consumer: str | None = None
    ignore_progress: bool = False
    limits: Limits = Limits()

    @classmethod
    def parse(cls, given: Mapping[str, str], table: CoreOptions) -> StreamOptions:
        """The options of a read, and those of the table that are about streams.

        Raises:
            OptionError: an unknown option, a wrong value, or options that contradict each other.
        """
        names = {name.lower(): name for name in OPTIONS}
        for key in given:
            if key.lower() not in names:
                raise OptionError(f"Unknown option '{key}' of a streaming read.", hint=did_you_mean(key, OPTIONS))
        texts = {names[key.lower()]: str(text).strip() for key, text in given.items()}
        own = {key: text for key, text in texts.items() if key in _OF_TABLE}
        validate(own)
        options = CoreOptions.parse({**table.raw, **own}, strict=False)
        return cls(
            _mode(texts),
            _number(texts, SNAPSHOT, 1),
            _number(texts, TIMESTAMP, 0),
            options.consumer_id,
            options.consumer_ignore_progress,
            Limits(options.read_stream_most_files, options.read_stream_most_rows),
        )


def _mode(texts: Mapping[str, str]) -> str:
    mode = texts.get(MODE, "default").lower()
    if mode not in MODES:
        raise OptionError(f"Option '{MODE}' cannot be '{texts[MODE]}'.", hint=f"It is one of: {', '.join(MODES)}.")
    asked = [name for name, key in _NEEDS.items() if key in texts]
    if len(asked) > 1:
        raise OptionError(f"A stream cannot begin at both '{SNAPSHOT}' and '{TIMESTAMP}'.", hint="Give one of them.")
    if mode == "default":
        return asked[0] if asked else "latest-full"
    if mode in _NEEDS and mode not in asked:
        raise OptionError(f"Option '{MODE}' = '{mode}' needs '{_NEEDS[mode]}'.", hint=f"Set '{_NEEDS[mode]}', too.")
    if asked and mode != asked[0]:
        raise OptionError(
            f"Option '{_NEEDS[asked[0]]}' does not fit '{MODE}' = '{mode}'.", hint=f"Set '{MODE}' = '{asked[0]}'."
        )
    return "latest-full" if mode == "full" else mode


def _number(texts: Mapping[str, str], key: str, least: int) -> int:
    text = texts.get(key, str(least))
    if not text.isdigit() or int(text) < least:
        raise OptionError(f"Option '{key}' cannot be '{text}': a whole number from {least} is expected.")
    return int(text)
