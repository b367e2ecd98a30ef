"""Kafka's source and sink before Flink 1.14. Source: ``FlinkKafkaConsumerBase``, ``FlinkKafkaProducer`` (1.16)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, cast

from penstock.common import checks
from penstock.common.contexts import SinkContext, SourceContext
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.kafka.deserializer import ValueOnly, value_schema
from penstock.connectors.kafka.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer, Subscription
from penstock.connectors.kafka.records import FIXED, RecordSerializer
from penstock.connectors.kafka.sink import KafkaOutput
from penstock.connectors.kafka.split_source import COMMITS, DISCOVERY
from penstock.datastream.connectors.base import DeliveryGuarantee
from penstock.datastream.connectors.kafka import builder_checks
from penstock.datastream.connectors.kafka.sink import KafkaRecordSerializationSchema, written_by
from penstock.datastream.connectors.kafka.source import KafkaSource
from penstock.datastream.functions import ParallelSourceFunction, SinkFunction
from penstock.datastream.input_formats import AddedSource
from penstock.datastream.sinks import AddedSink
from penstock.errors import UnsupportedError
from penstock.runtime.io.sinks import BuiltinSink

if TYPE_CHECKING:
    from typing_extensions import Self

_DISCOVERY = "flink.partition-discovery.interval-millis"
_RESET = {"earliest": KafkaOffsetResetStrategy.EARLIEST, "none": KafkaOffsetResetStrategy.NONE}


class FlinkKafkaConsumerBase(ParallelSourceFunction[Any], AddedSource):
    """Base of FlinkKafkaConsumer."""

    def __init__(
        self, topics: str | list[str], deserialization_schema: DeserializationSchema[Any], properties: Mapping[str, str]
    ) -> None:
        names = topics if isinstance(topics, list) else [topics]
        if not names:
            checks.illegal_argument("FlinkKafkaConsumer() was given no topic. Give at least one.")
        self._topics = tuple(builder_checks.topic(name, "FlinkKafkaConsumer") for name in names)
        self._schema = value_schema(deserialization_schema, "FlinkKafkaConsumer")
        self._properties = _properties(properties, "FlinkKafkaConsumer")
        self._starting: KafkaOffsetsInitializer | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {', '.join(map(repr, self._topics))}>"

    def set_start_from_earliest(self) -> Self:
        """Start at the first existing records."""
        return self._start(KafkaOffsetsInitializer.earliest())

    def set_start_from_latest(self) -> Self:
        """Start at the records written after the job has started."""
        return self._start(KafkaOffsetsInitializer.latest())

    def set_start_from_timestamp(self, startup_offsets_timestamp: int) -> Self:
        """Start at the first records with that timestamp, in milliseconds since the epoch, or a later one."""
        return self._start(KafkaOffsetsInitializer.timestamp(startup_offsets_timestamp))

    def set_start_from_group_offsets(self) -> Self:
        """Start at the committed offsets of ``group.id`` (the default), or else where ``auto.offset.reset`` says."""
        return self._start(None)

    def set_commit_offsets_on_checkpoints(self, commit_on_checkpoints: bool) -> Self:
        """Whether offsets are committed for the group with each checkpoint; True by default."""
        checks.boolean(commit_on_checkpoints, "set_commit_offsets_on_checkpoints", "commit_on_checkpoints")
        self._properties[COMMITS] = str(commit_on_checkpoints and "group.id" in self._properties).lower()
        return self

    def disable_filter_restored_partitions_with_subscribed_topics(self) -> Self:
        """No effect: it concerns Flink's savepoints of topics that are no longer read."""
        return self

    def get_produced_type(self) -> TypeInformation[Any]:
        """The type of the records."""
        return self._schema.get_produced_type()

    def source(self) -> KafkaSource[Any]:
        """The same as a KafkaSource without an end."""
        starting = self._starting
        if starting is None:
            reset = _RESET.get(self._properties.get("auto.offset.reset", ""), KafkaOffsetResetStrategy.LATEST)
            stated = self._properties.get("auto.offset.reset") in _RESET
            starting = replace(KafkaOffsetsInitializer.committed_offsets(reset), stated=stated)
        interval = self._properties.get(_DISCOVERY, "-1")  # new partitions are looked for only where it is said
        properties = {**self._properties, DISCOVERY: self._properties.get(DISCOVERY, interval)}
        return KafkaSource(properties, Subscription(self._topics), starting, None, ValueOnly(self._schema))

    def run(self, ctx: SourceContext[Any], /) -> NoReturn:
        """Refused: a task does not call it."""
        raise UnsupportedError(f"{self!r} is not a function to call. Give it to add_source().")

    def _start(self, starting: KafkaOffsetsInitializer | None) -> Self:
        self._starting = starting
        return self


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """Reads Kafka topics forever: for ``add_source``. KafkaSource is the same under its newer name. Of the properties
    of Kafka's consumer ``bootstrap.servers`` is needed."""


class Semantic(Enum):
    """How often a FlinkKafkaProducer delivers each record when something fails, as :class:`DeliveryGuarantee`."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class FlinkKafkaProducerBase(SinkFunction[Any], AddedSink):
    """Base of FlinkKafkaProducer."""

    _output: BuiltinSink

    def set_log_failures_only(self, log_failures_only: bool) -> Self:
        """Whether records that cannot be written are logged, by the logger ``penstock.kafka``, and nothing else. Such a
        sink guarantees nothing; EXACTLY_ONCE refuses it."""
        checks.boolean(log_failures_only, "set_log_failures_only", "log_failures_only")
        if isinstance(self._output, KafkaOutput):
            self._output = replace(self._output, log_only=log_failures_only)
        elif log_failures_only:
            checks.refuse(
                "set_log_failures_only(True): with Semantic.EXACTLY_ONCE no record may be missing. Leave the call out, "
                "or take Semantic.AT_LEAST_ONCE."
            )
        return self

    def set_flush_on_checkpoint(self, flush_on_checkpoint: bool) -> Self:
        """Whether a checkpoint waits for the brokers. A task always waits for them at its end."""
        checks.boolean(flush_on_checkpoint, "set_flush_on_checkpoint", "flush_on_checkpoint")
        return self

    def set_write_timestamp_to_kafka(self, write_timestamp_to_kafka: bool) -> Self:
        """Whether timestamps of records are written; by default records get the time of writing."""
        checks.boolean(write_timestamp_to_kafka, "set_write_timestamp_to_kafka", "write_timestamp_to_kafka")
        self._output = replace(cast("KafkaOutput", self._output), timestamps=write_timestamp_to_kafka)
        return self

    def runtime(self) -> BuiltinSink:
        return self._output

    def invoke(self, value: Any, context: SinkContext, /) -> NoReturn:
        """Refused: a task does not call it."""
        raise UnsupportedError(f"{self!r} is not a function to call. Give it to add_sink().")


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """Writes values to a topic of Kafka: for ``add_sink``. All records of a subtask go to one partition. Of the
    producer's properties ``bootstrap.servers`` is needed. The size of a pool has no effect. With EXACTLY_ONCE, the ids
    of transactions begin with ``transactional.id`` of the properties, or with the topic."""

    def __init__(
        self,
        topic: str,
        serialization_schema: SerializationSchema[Any],
        producer_config: Mapping[str, str],
        kafka_producer_pool_size: int = 5,
        semantic: Semantic = Semantic.AT_LEAST_ONCE,
    ) -> None:
        schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
        value = schema.set_value_serialization_schema(serialization_schema).build().runtime().value
        checks.positive(kafka_producer_pool_size, "FlinkKafkaProducer", "kafka_producer_pool_size")
        properties = _properties(producer_config, "FlinkKafkaProducer")
        prefix = properties.pop("transactional.id", f"FlinkKafkaProducer-{topic}")
        guarantee = DeliveryGuarantee[checks.member(semantic, "FlinkKafkaProducer", Semantic).name]
        self._topic = topic
        self._output = written_by(properties, RecordSerializer(topic, value, partitioner=FIXED), guarantee, prefix)
        self.set_write_timestamp_to_kafka(False)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} to {self._topic!r}>"

    def ignore_failures_after_transaction_timeout(self) -> FlinkKafkaProducer:
        """No effect: no transaction is left open."""
        return self


def _properties(values: Any, call: str) -> dict[str, str]:
    properties = builder_checks.properties(values, call)
    if "bootstrap.servers" not in properties:
        checks.illegal_argument(
            f"{call}() was given properties without 'bootstrap.servers'. Add {{'bootstrap.servers': 'localhost:9092'}}."
        )
    return properties
