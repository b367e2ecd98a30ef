"""Builder of schemas that serialize records for Kafka (PyFlink: ``pyflink.datastream.connectors.kafka``).

Source of names and checks: ``KafkaRecordSerializationSchemaBuilder`` (Flink's Kafka connector 3.3).
"""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

from penstock.common import checks
from penstock.common.serialization import SerializationSchema
from penstock.connectors.kafka.records import RecordSerializer
from penstock.datastream.connectors.kafka import builder_checks

T_contra = TypeVar("T_contra", contravariant=True)
_HEADERS = Callable[[Any], "Mapping[str, bytes | None] | Iterable[tuple[str, bytes | None]]"]
_PARTITIONER = Callable[[Any, "bytes | None", "bytes | None", str, Sequence[int]], int]


class KafkaTopicSelector(ABC, Generic[T_contra]):
    """Chooses the topic of a record; a callable does as well."""

    @abstractmethod
    def apply(self, data: T_contra, /) -> str:
        """The name of the topic."""


class KafkaRecordSerializationSchema(Generic[T_contra]):
    """Serializes a record of the stream as a Kafka record. Made by :meth:`builder`."""

    def __init__(self, serializer: RecordSerializer) -> None:
        self._serializer = serializer

    def __repr__(self) -> str:
        topic = self._serializer.fixed_topic
        return f"<KafkaRecordSerializationSchema for {'a topic selector' if topic is None else repr(topic)}>"

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder[Any]:
        """Begin with nothing."""
        return KafkaRecordSerializationSchemaBuilder()

    def runtime(self) -> RecordSerializer:
        """What tasks run."""
        return self._serializer


class KafkaRecordSerializationSchemaBuilder(Generic[T_contra]):
    """Settings of a KafkaRecordSerializationSchema before it is made. Methods change it and return it."""

    def __init__(self) -> None:
        self._topic: str | Callable[[Any], str] | None = None
        self._key: SerializationSchema[Any] | None = None
        self._value: SerializationSchema[Any] | None = None
        self._partitioner: _PARTITIONER | None = None
        self._headers: _HEADERS | None = None

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder[T_contra]:
        """One topic for all records.

        Args:
            topic: its name.
        """
        self._once("set_topic")
        self._topic = builder_checks.topic(topic, "set_topic")
        return self

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str] | KafkaTopicSelector[Any]
    ) -> KafkaRecordSerializationSchemaBuilder[T_contra]:
        """A topic for each record.

        Args:
            topic_selector: record → name of the topic.
        """
        self._once("set_topic_selector")
        if isinstance(topic_selector, KafkaTopicSelector):
            self._topic = cast("KafkaTopicSelector[Any]", topic_selector).apply
        elif callable(topic_selector) and not isinstance(topic_selector, type):
            self._topic = topic_selector
        else:
            checks.refuse(
                f"set_topic_selector() was given {checks.shown(topic_selector)}. Give a callable, such as lambda "
                "order: order.country, or an object of a class derived from KafkaTopicSelector."
            )
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema[Any]
    ) -> KafkaRecordSerializationSchemaBuilder[T_contra]:
        """Serializes the key. By default Kafka's records have no key."""
        self._key = _schema(key_serialization_schema, "set_key_serialization_schema")
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema[Any]
    ) -> KafkaRecordSerializationSchemaBuilder[T_contra]:
        """Serializes the value."""
        self._value = _schema(value_serialization_schema, "set_value_serialization_schema")
        return self

    def set_partitioner(self, partitioner: _PARTITIONER) -> KafkaRecordSerializationSchemaBuilder[T_contra]:
        """Choose the partition of a record (Flink's Java API). By default Kafka's client chooses, by the key if there
        is one.

        Args:
            partitioner: (record, key, value, topic, partitions of the topic) → one of these.
        """
        if not callable(partitioner):
            checks.refuse(
                f"set_partitioner() was given {checks.shown(partitioner)}. Give a callable: lambda record, key, value, "
                "topic, partitions: partitions[0]."
            )
        self._partitioner = partitioner
        return self

    def set_header_provider(self, header_provider: _HEADERS) -> KafkaRecordSerializationSchemaBuilder[T_contra]:
        """The headers of a record (Flink's Java API).

        Args:
            header_provider: record → pairs of names and bytes, or a dict of them.
        """
        if not callable(header_provider):
            checks.refuse(
                f"set_header_provider() was given {checks.shown(header_provider)}. Give a callable: lambda record: "
                "[('trace', b'17')]."
            )
        self._headers = header_provider
        return self

    def build(self) -> KafkaRecordSerializationSchema[T_contra]:
        """The schema.

        Raises:
            InvalidProgramError: topic or value schema are missing.
        """
        builder = "KafkaRecordSerializationSchemaBuilder"
        builder_checks.needed(
            self._value is not None, "how a record becomes a value", "set_value_serialization_schema()", builder
        )
        builder_checks.needed(self._topic is not None, "the topic", "set_topic('orders')", builder)
        topic, value = cast("str | Callable[[Any], str]", self._topic), cast("SerializationSchema[Any]", self._value)
        serializer = RecordSerializer(topic, value, self._key, self._partitioner, self._headers)
        return KafkaRecordSerializationSchema(serializer)

    def _once(self, call: str) -> None:
        if self._topic is not None:
            checks.refuse(
                f"{call}() was called, and the topic was given before. Call set_topic() or set_topic_selector(), once.",
                checks.ILLEGAL_STATE,
            )


def _schema(value: Any, call: str) -> SerializationSchema[Any]:
    hint = "Give a SerializationSchema, such as SimpleStringSchema(), or an object of a class derived from it."
    return checks.instance(value, call, SerializationSchema, hint, ", which is not a SerializationSchema")
