"""KafkaSink, the schemas that serialize records for it, and their builders (source: Flink's Kafka connector 3.3)."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from penstock.common import checks
from penstock.common.serialization import SerializationSchema
from penstock.connectors.kafka.records import RecordSerializer
from penstock.connectors.kafka.sink import KafkaOutput, TransactionalKafkaOutput
from penstock.datastream.connectors.base import DeliveryGuarantee, Sink, StreamTransformer, SupportsPreprocessing
from penstock.datastream.connectors.kafka import builder_checks
from penstock.runtime.io.sinks import BuiltinSink

if TYPE_CHECKING:
    from typing_extensions import Self

F = TypeVar("F", bound=Callable[..., Any])
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
        """The part that tasks run."""
        return self._serializer


class KafkaRecordSerializationSchemaBuilder(Generic[T_contra]):
    """Settings of a KafkaRecordSerializationSchema before it is made. Methods change it and return it."""

    def __init__(self) -> None:
        self._topic: str | Callable[[Any], str] | None = None
        self._key: SerializationSchema[Any] | None = None
        self._value: SerializationSchema[Any] | None = None
        self._partitioner: _PARTITIONER | None = None
        self._headers: _HEADERS | None = None

    def set_topic(self, topic: str) -> Self:
        """One topic for all records."""
        self._once("set_topic")
        self._topic = builder_checks.topic(topic, "set_topic")
        return self

    def set_topic_selector(self, topic_selector: Callable[[Any], str] | KafkaTopicSelector[Any]) -> Self:
        """A topic for each record, by a function from the record to the name."""
        self._once("set_topic_selector")
        selector: Any = topic_selector
        if isinstance(topic_selector, KafkaTopicSelector):
            selector = cast("KafkaTopicSelector[Any]", topic_selector).apply
        example = "lambda order: order.country, or an object of a class derived from KafkaTopicSelector"
        self._topic = _callable(selector, "set_topic_selector", example)
        return self

    def set_key_serialization_schema(self, key_serialization_schema: SerializationSchema[Any]) -> Self:
        """Serializes the key. By default Kafka's records have no key."""
        self._key = _schema(key_serialization_schema, "set_key_serialization_schema")
        return self

    def set_value_serialization_schema(self, value_serialization_schema: SerializationSchema[Any]) -> Self:
        """Serializes the value."""
        self._value = _schema(value_serialization_schema, "set_value_serialization_schema")
        return self

    def set_partitioner(self, partitioner: _PARTITIONER) -> Self:
        """Choose the partition of a record, by a function of (record, key, value, topic, partitions of the topic), one
        of them (Flink's Java API). By default Kafka's client chooses, by the key if there is one."""
        example = "lambda record, key, value, topic, partitions: partitions[0]"
        self._partitioner = _callable(partitioner, "set_partitioner", example)
        return self

    def set_header_provider(self, header_provider: _HEADERS) -> Self:
        """The headers of a record, as pairs of names and bytes, or a dict of them (Flink's Java API)."""
        self._headers = _callable(header_provider, "set_header_provider", "lambda record: [('trace', b'17')]")
        return self

    def build(self) -> KafkaRecordSerializationSchema[T_contra]:
        """The schema, which needs a topic and a value schema."""
        call = "set_value_serialization_schema()"
        value = builder_checks.needed(self._value, "how a record becomes a value", call, self)
        topic = builder_checks.needed(self._topic, "the topic", "set_topic('orders')", self)
        serializer = RecordSerializer(topic, value, self._key, self._partitioner, self._headers)
        return KafkaRecordSerializationSchema(serializer)

    def _once(self, call: str) -> None:
        if self._topic is not None:
            checks.refuse(
                f"{call}() was called, and the topic was given before. Call set_topic() or set_topic_selector(), once.",
                checks.ILLEGAL_STATE,
            )


def _callable(value: F, call: str, example: str) -> F:
    if not callable(value) or isinstance(value, type):
        checks.refuse(f"{call}() was given {checks.shown(value)}. Give a callable: {example}.")
    return value


def _schema(value: Any, call: str) -> SerializationSchema[Any]:
    hint = "Give a SerializationSchema, such as SimpleStringSchema(), or an object of a class derived from it."
    return checks.instance(value, call, SerializationSchema, hint, ", which is not a SerializationSchema")


_LONGEST_PREFIX = 6_400
"""Flink's limit of a prefix, in bytes."""


class KafkaSink(Sink[T_contra], SupportsPreprocessing):
    """Writes records to topics of Kafka. Made by :meth:`builder`.

    With ``NONE`` and ``AT_LEAST_ONCE`` tasks write while they run, and a task has succeeded when the brokers have
    acknowledged all its records; what a failed task has written stays. With ``EXACTLY_ONCE`` records wait in files
    until the job has succeeded; then the driver writes them in transactions, each record once, whatever dies when."""

    def __init__(self, output: KafkaOutput | TransactionalKafkaOutput) -> None:
        self._output = output

    def __repr__(self) -> str:
        return f"<KafkaSink to {self._output.serializer.shown}>"

    @staticmethod
    def builder() -> KafkaSinkBuilder[Any]:
        """Begin with nothing but the defaults."""
        return KafkaSinkBuilder()

    def get_transformer(self) -> StreamTransformer | None:
        return None

    def runtime(self) -> BuiltinSink:
        return self._output


class KafkaSinkBuilder(builder_checks.ClientBuilder, Generic[T_contra]):
    """Settings of a KafkaSink before it is made. Methods change it and return it."""

    def __init__(self) -> None:
        super().__init__()
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema[Any] | None = None

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """The delivery guarantee when something fails; NONE by default."""
        self._guarantee = checks.member(delivery_guarantee, "set_delivery_guarantee", DeliveryGuarantee)
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> Self:
        """The prefix of the transactional ids, required for EXACTLY_ONCE: unique among the programs that write to the
        cluster, and the same in every run of a program."""
        prefix: str = checks.name(transactional_id_prefix, "set_transactional_id_prefix", "prefix")
        if not 0 < len(prefix.encode()) <= _LONGEST_PREFIX:
            checks.illegal_argument(
                f"set_transactional_id_prefix(): the prefix has {len(prefix.encode())} bytes, and may have 1 to "
                f"{_LONGEST_PREFIX}. Give the name of the program, say."
            )
        self._prefix = prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema[Any]) -> Self:
        """How records are serialized."""
        hint = "Use KafkaRecordSerializationSchema.builder()."
        why = ", which is not a KafkaRecordSerializationSchema"
        checks.instance(record_serializer, "set_record_serializer", KafkaRecordSerializationSchema, hint, why)
        self._serializer = record_serializer
        return self

    def build(self) -> KafkaSink[T_contra]:
        """The sink, which needs brokers, a serializer, and for EXACTLY_ONCE a transactional id prefix."""
        self._check_servers()
        call = "set_record_serializer(KafkaRecordSerializationSchema.builder()….build())"
        schema = builder_checks.needed(self._serializer, "how records are written", call, self)
        if self._guarantee is DeliveryGuarantee.EXACTLY_ONCE and self._prefix is None:
            checks.refuse(
                "KafkaSinkBuilder.build(): EXACTLY_ONCE needs a transactional id prefix, by which a run finishes what "
                "a crash has left of an earlier one. Call set_transactional_id_prefix('my-program') before.",
                checks.ILLEGAL_STATE,
            )
        return KafkaSink(written_by(self._properties, schema.runtime(), self._guarantee, self._prefix or ""))


def written_by(
    properties: Mapping[str, str], serializer: RecordSerializer, guarantee: DeliveryGuarantee, prefix: str
) -> KafkaOutput | TransactionalKafkaOutput:
    """The sink for a delivery guarantee; ``prefix`` is of transactional ids."""
    if guarantee is DeliveryGuarantee.EXACTLY_ONCE:
        return TransactionalKafkaOutput(dict(properties), serializer, prefix)
    return KafkaOutput(dict(properties), serializer)
