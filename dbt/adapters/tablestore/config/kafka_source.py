"""The Kafka topic that a dbt source is, by its `meta`, and the columns of its rows.

    meta:
      kafka: {servers: 'localhost:9092', topic: mysql.shop.orders, format: debezium-json, key: id}

The keys in `meta` of the whole source hold for each of its tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from tablestore_engine.errors import TableStoreError, nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from tablestore_engine.operation.kafka_source.source import KafkaSource
    from tablestore_engine.schema.types.types import DataField

META = "kafka"
_KNOWN = ("servers", "topic", "format", "key", "start", "dead_letters", "max_messages", "client")


@dataclass(frozen=True)
class KafkaTopic:
    """A topic as a source of models.

    Attributes:
        name: the source as the user knows it, `shop.orders`.
        columns: names and Spark types.
        required: the columns that must not be null.
        key: the columns that identify a row; of each key the newest row is read. None: all changes are.
        start: earliest or latest, for a model that is built anew.
        dead_letters: the table of messages that cannot be read; without one they are an error.
        max_messages: how many messages a run reads, about.
        client: further settings of the Kafka client.
    """

    name: str
    servers: str
    topic: str
    columns: tuple[tuple[str, str], ...]
    required: tuple[str, ...] = ()
    format: str = "debezium-json"
    key: tuple[str, ...] = ()
    start: str = "earliest"
    dead_letters: str | None = None
    max_messages: int | None = None
    client: tuple[tuple[str, str], ...] = ()

    @property
    def source(self) -> KafkaSource:
        """The topic for the engine."""
        from tablestore_engine.operation.kafka_source.source import KafkaSource

        return KafkaSource(self.topic, self.servers, self.format, dict(self.client))

    def fields(self) -> tuple[DataField, ...]:
        """The columns with the types that a table would have. Raises DbtRuntimeError for a type that is unknown."""
        from tablestore_engine.schema.types.types import DataField
        from tablestore_engine.sql.types.types import parse_sql_type

        try:
            types = [parse_sql_type(kind, name) for name, kind in self.columns]
        except TableStoreError as error:
            raise DbtRuntimeError(f"Source {self.name}: {error}") from None
        names = [name for name, _ in self.columns]
        return tuple(DataField(i, name, kind) for i, (name, kind) in enumerate(zip(names, types, strict=True)))

    def arrow_schema(self) -> pa.Schema:
        """The columns as Arrow types. Raises DbtRuntimeError for a type that is unknown."""
        import pyarrow as pa

        from tablestore_engine.schema.types.arrow import to_arrow_type

        return pa.schema([(one.name, to_arrow_type(one.type)) for one in self.fields()])


def has_topic(node: Mapping[str, Any]) -> bool:
    """Whether a source of the manifest is a topic."""
    return any(META in (meta or {}) for meta in _metas(node))


def topic_of(node: Mapping[str, Any]) -> KafkaTopic:
    """The topic of a source of the manifest. Raises DbtRuntimeError for what is missing, unknown or of no use."""
    name = f"{node['source_name']}.{node['name']}"
    given = _given(node, name)
    columns = _columns(node, name)
    key = given.get("key") or ()
    most = given.get("max_messages")
    if most is not None and not (isinstance(most, int) and most > 0):
        raise DbtRuntimeError(f"Source {name}: `max_messages` is '{most}'; it must be a whole number above 0.")
    client = given.get("client") or {}
    if not isinstance(client, Mapping):
        raise DbtRuntimeError(f"Source {name}: `client` is '{client}'; it must be a mapping of settings.")
    return KafkaTopic(
        name=name,
        servers=_text(given, "servers", name),
        topic=str(given.get("topic") or node.get("identifier") or node["name"]),
        columns=columns,
        required=_required(node),
        format=str(given.get("format") or KafkaTopic.format).lower(),
        key=_key((key,) if isinstance(key, str) else tuple(key), columns, name),
        start=str(given.get("start") or KafkaTopic.start).lower(),
        dead_letters=str(given["dead_letters"]) if given.get("dead_letters") else None,
        max_messages=most,
        client=tuple((str(one), str(value)) for one, value in client.items()),
    )


def _metas(node: Mapping[str, Any]) -> tuple[Any, ...]:
    return node.get("source_meta"), node.get("meta"), (node.get("config") or {}).get("meta")


def _given(node: Mapping[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for meta in _metas(node):
        of_kafka = (meta or {}).get(META) or {}
        if not isinstance(of_kafka, Mapping):
            raise DbtRuntimeError(f"Source {name}: `meta.{META}` is '{of_kafka}'; it must be a mapping.")
        found.update(of_kafka)
    if not found:
        raise DbtRuntimeError(
            f"Source {name} is no Kafka topic. Say where it is: `meta: {{{META}: {{servers: 'localhost:9092'}}}}`."
        )
    for key in found:
        if key not in _KNOWN:
            near = nearest(str(key), _KNOWN)
            raise DbtRuntimeError(
                f"Source {name}: `meta.{META}.{key}` is unknown. "
                + (f"Did you mean `{near}`?" if near else f"There are: {', '.join(_KNOWN)}.")
            )
    return found


def _text(given: Mapping[str, Any], key: str, name: str) -> str:
    if not given.get(key):
        raise DbtRuntimeError(f"Source {name}: `meta.{META}.{key}` is missing, for example 'localhost:9092'.")
    return str(given[key])


def _columns(node: Mapping[str, Any], name: str) -> tuple[tuple[str, str], ...]:
    columns = [(str(one["name"]), one.get("data_type")) for one in (node.get("columns") or {}).values()]
    untyped = [column for column, kind in columns if not kind]
    if untyped or not columns:
        which = f"column {untyped[0]} has" if untyped else "its columns have"
        raise DbtRuntimeError(
            f"Source {name}: messages are read as rows of its `columns`, but {which} no `data_type`. "
            "List them in the YAML of the source, such as `columns: [{name: id, data_type: bigint}]`."
        )
    return tuple((column, str(kind)) for column, kind in columns)


def _key(key: tuple[str, ...], columns: tuple[tuple[str, str], ...], name: str) -> tuple[str, ...]:
    by_name = {column.lower(): column for column, _ in columns}
    for one in key:
        if str(one).lower() not in by_name:
            raise DbtRuntimeError(
                f"Source {name}: its key '{one}' is none of its columns {', '.join(by_name.values())}."
            )
    return tuple(by_name[str(one).lower()] for one in key)


def _required(node: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns with a constraint `not_null`."""
    found = []
    for column in (node.get("columns") or {}).values():
        kinds = [str(one.get("type")) for one in column.get("constraints") or ()]
        if any(kind.endswith(("not_null", "primary_key")) for kind in kinds):
            found.append(str(column["name"]))
    return tuple(found)
