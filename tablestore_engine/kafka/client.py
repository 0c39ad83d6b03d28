"""The Kafka client: loaded when a log is used, with bounds for every wait, and its errors as errors of the engine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from tablestore_engine.errors import LogDependencyError, LogError, LogFencedError
from tablestore_engine.kafka.settings import LogSettings

SECONDS = 10.0
"""The longest wait for an answer of the brokers."""
UNREACHABLE = "_TRANSPORT"
"""The client's name for an error: no broker can be reached."""
BROKER_FAILED = "UNKNOWN"
"""The client's name for an error: the brokers failed, and do not say why."""
TRANSACTION_MILLIS = 300_000
_MESSAGE_MILLIS = 60_000
_log = logging.getLogger(__name__)


class _Reports:
    """The reports of a client, for debugging: a report that fails a call is an error of the engine already."""

    def log(self, _: int, text: str, *values: str) -> None:
        """Pass a report on."""
        _log.debug(text, *values)


_QUIET = {"log_level": 2}  # the client would report each lost connection on stderr
_REPORTED = {"logger": _Reports()}
"""For producers, of which a fatal error (another one has fenced it) would be on stderr at any level."""
_FENCED = ("_FENCED", "PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "_FATAL")
"""After a fatal error, too, a new producer goes on: the usual reason is that this one was fenced while it was idle."""
_READ = {"enable.auto.commit": False, "auto.offset.reset": "error", "enable.partition.eof": True}


def kafka() -> Any:
    """The client's module. Raises LogDependencyError when it is not installed."""
    try:
        import confluent_kafka
        import confluent_kafka.admin
    except ImportError:
        raise LogDependencyError(
            "A log on Kafka needs the package confluent-kafka, which is not installed.",
            hint="pip install 'dbt-tablestore[kafka]'",
        ) from None
    return confluent_kafka


def admin(log: LogSettings) -> Any:
    """A client that makes, deletes and describes topics; kept by the process, because its connections are."""
    with log_errors(log, _NO_CLIENT):
        return _admin(tuple(sorted(_config(log, {}).items())))


@lru_cache(8)
def _admin(config: tuple[tuple[str, Any], ...]) -> Any:
    return kafka().admin.AdminClient(dict(config))


_NO_CLIENT = "A Kafka client cannot be made with these settings"


def transactional_producer(log: LogSettings) -> Any:
    """A producer that fences the earlier ones of the same topic. Its transactions are not initialized yet."""
    own = {
        "transactional.id": f"tablestore:{log.topic}",
        "transaction.timeout.ms": TRANSACTION_MILLIS,
        "message.timeout.ms": _MESSAGE_MILLIS,
    }
    return _producer(log, own)


def plain_producer(log: LogSettings, seconds: float = SECONDS) -> Any:
    """A producer that keeps the order of messages and sends none twice, without transactions. It reports the messages
    that failed."""
    own = {
        "enable.idempotence": True,
        "message.timeout.ms": int(seconds * 1000),
        "delivery.report.only.error": True,
    }
    return _producer(log, own)


def _producer(log: LogSettings, own: dict[str, Any]) -> Any:
    with log_errors(log, _NO_CLIENT):
        return kafka().Producer(_config(log, {**_IN_BULK, **own}))


_IN_BULK = {"queue.buffering.max.messages": 1_000_000, "linger.ms": 20, "batch.size": 1 << 20, **_REPORTED}


def consumer(log: LogSettings, group: str = "tablestore", **more: Any) -> Any:
    """A consumer of committed messages, to which partitions are assigned by hand; it stores no offsets."""
    own = {**_READ, "group.id": group, "isolation.level": "read_committed", "fetch.wait.max.ms": 100, **more}
    with log_errors(log, _NO_CLIENT):
        return kafka().Consumer(_config(log, own))


def _config(log: LogSettings, own: dict[str, Any]) -> dict[str, Any]:
    return {
        "bootstrap.servers": log.servers,
        "socket.timeout.ms": int(SECONDS * 1000),
        **_QUIET,
        **own,
        **log.client,
    }


@contextmanager
def log_errors(log: LogSettings, what: str) -> Iterator[None]:
    """Errors of the client as LogError; `what` says what was not done."""
    try:
        yield
    except (TimeoutError, FutureTimeoutError) as error:
        raise LogError(f"{what}: the brokers {log.servers} did not answer in time.", hint=_HINT) from error
    except BufferError as error:
        raise LogError(f"{what}: the client's buffer stayed full.") from error
    except SystemError as error:
        # A callback of the client failed; the cause is the client's own error.
        raise _log_error(log, what, error.__cause__ or error) from error
    except Exception as error:
        if not isinstance(error, kafka().KafkaException):
            raise
        raise _log_error(log, what, error) from error


def _log_error(log: LogSettings, what: str, error: BaseException) -> LogError:
    cause = error.args[0] if error.args else error
    name = cause.name() if hasattr(cause, "name") else ""
    text = cause.str() if hasattr(cause, "str") else str(cause)
    if name in _FENCED:
        return LogFencedError(f"{what}: another writer publishes to topic '{log.topic}' now.")
    found = LogError(
        f"{what}: {text} (brokers {log.servers}, {name})." if name else f"{what}: {text}.", hint=_hint(name)
    )
    found.code = name
    return found


_HINT = "Check that these brokers run and can be reached: 'log.kafka.bootstrap.servers', or --servers, names them."
_TOO_LARGE = ("MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE")


def _hint(name: str) -> str:
    """Advice on an error of the client with this name."""
    if name in _TOO_LARGE:
        return (
            "Raise 'max.message.bytes' of the topic, and 'message.max.bytes' of the client "
            "('log.kafka.message.max.bytes'), or make the row smaller."
        )
    if name == "_INVALID_ARG":
        return "Correct the options 'log.kafka.*' of the table, or the settings of the client that the call has."
    if name.endswith("_AUTHORIZATION_FAILED"):
        return (
            "The user of 'log.kafka.*' needs the rights to describe, read and write topics, and on transactional ids."
        )
    return _HINT
