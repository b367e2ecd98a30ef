"""KafkaSink and its builder (PyFlink: ``pyflink.datastream.connectors.kafka``).

Source of names, defaults and checks: ``KafkaSinkBuilder`` (Flink's Kafka connector 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from penstock.common import checks
from penstock.connectors.kafka.records import RecordSerializer
from penstock.connectors.kafka.sink import KafkaOutput, TransactionalKafkaOutput
from penstock.datastream.connectors.base import DeliveryGuarantee, Sink, StreamTransformer, SupportsPreprocessing
from penstock.datastream.connectors.kafka import builder_checks
from penstock.datastream.connectors.kafka.serialization import KafkaRecordSerializationSchema
from penstock.runtime.io.sinks import BuiltinSink

T_contra = TypeVar("T_contra", contravariant=True)

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


class KafkaSinkBuilder(Generic[T_contra]):
    """Settings of a KafkaSink before it is made. Methods change it and return it."""

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema[Any] | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder[T_contra]:
        """The brokers to connect to first.

        Args:
            bootstrap_servers: hosts and ports with commas between: ``localhost:9092``.
        """
        self._properties["bootstrap.servers"] = builder_checks.servers(bootstrap_servers)
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder[T_contra]:
        """The delivery guarantee when something fails; NONE by default."""
        self._guarantee = checks.member(delivery_guarantee, "set_delivery_guarantee", DeliveryGuarantee)
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder[T_contra]:
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

    def set_record_serializer(
        self, record_serializer: KafkaRecordSerializationSchema[Any]
    ) -> KafkaSinkBuilder[T_contra]:
        """How records are serialized."""
        hint = "Use KafkaRecordSerializationSchema.builder()."
        why = ", which is not a KafkaRecordSerializationSchema"
        checks.instance(record_serializer, "set_record_serializer", KafkaRecordSerializationSchema, hint, why)
        self._serializer = record_serializer
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder[T_contra]:
        """A property of Kafka's producer.

        Args:
            key: its name, such as ``linger.ms``.
            value: a text, also of numbers.
        """
        name, text = builder_checks.one_property(key, value, "set_property")
        self._properties[name] = text
        return self

    def build(self) -> KafkaSink[T_contra]:
        """The sink.

        Raises:
            InvalidProgramError: bootstrap servers or the serializer are missing, or a transactional id prefix for
                EXACTLY_ONCE.
        """
        builder = "KafkaSinkBuilder"
        known = "bootstrap.servers" in self._properties
        builder_checks.needed(known, "the address of a broker", "set_bootstrap_servers('localhost:9092')", builder)
        needed = "set_record_serializer(KafkaRecordSerializationSchema.builder()….build())"
        builder_checks.needed(self._serializer is not None, "how records are written", needed, builder)
        if self._guarantee is DeliveryGuarantee.EXACTLY_ONCE and self._prefix is None:
            checks.refuse(
                "KafkaSinkBuilder.build(): EXACTLY_ONCE needs a transactional id prefix, by which a run finishes what "
                "a crash has left of an earlier one. Call set_transactional_id_prefix('my-program') before.",
                checks.ILLEGAL_STATE,
            )
        serializer = cast("KafkaRecordSerializationSchema[Any]", self._serializer).runtime()
        return KafkaSink(written_by(self._properties, serializer, self._guarantee, self._prefix or ""))


def written_by(
    properties: Mapping[str, str], serializer: RecordSerializer, guarantee: DeliveryGuarantee, prefix: str
) -> KafkaOutput | TransactionalKafkaOutput:
    """The sink for a delivery guarantee.

    Args:
        properties: of Kafka's producer.
        serializer: makes Kafka's records.
        guarantee: how often each arrives.
        prefix: of transactional ids.
    """
    if guarantee is DeliveryGuarantee.EXACTLY_ONCE:
        return TransactionalKafkaOutput(dict(properties), serializer, prefix)
    return KafkaOutput(dict(properties), serializer)
