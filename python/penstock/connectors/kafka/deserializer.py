"""How records of a Kafka topic become records of a stream. Source of the semantics:
``KafkaRecordDeserializationSchema`` (Flink's Kafka connector 3.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from penstock.common import checks
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation

T_co = TypeVar("T_co", covariant=True)


class KafkaRecord(NamedTuple):
    """A record as it is in a topic (Kafka: ``ConsumerRecord``). The timestamp is in milliseconds since the epoch;
    it, key and value are None if the record has none."""

    topic: str
    partition: int
    offset: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


class KafkaRecordDeserializationSchema(ABC, Generic[T_co]):
    """The value that a Kafka source makes of a whole record: key, headers, offset and all. One of your own defines both
    methods; for the value alone :meth:`value_only` is enough."""

    @abstractmethod
    def deserialize(self, record: KafkaRecord, /) -> Iterable[T_co]:
        """The records of the stream for one of the topic: any number."""

    @abstractmethod
    def get_produced_type(self) -> TypeInformation[Any]:
        """The type of the stream's records."""

    @staticmethod
    def value_only(deserialization_schema: DeserializationSchema[Any]) -> KafkaRecordDeserializationSchema[Any]:
        """The value by a schema, such as ``SimpleStringSchema()``, and nothing else of the record."""
        return ValueOnly(value_schema(deserialization_schema, "value_only"))


class ValueOnly(KafkaRecordDeserializationSchema[Any]):
    """A schema that sees the value by another one."""

    def __init__(self, schema: DeserializationSchema[Any]) -> None:
        self.schema = schema

    def __repr__(self) -> str:
        return f"value_only({self.schema!r})"

    def deserialize(self, record: KafkaRecord, /) -> Iterable[Any]:
        """The value as the schema reads it; what it makes None of is left out, as in Flink."""
        value = self.schema.deserialize(record.value)  # type: ignore[arg-type]
        return () if value is None else (value,)

    def get_produced_type(self) -> TypeInformation[Any]:
        return self.schema.get_produced_type()


def value_schema(value: Any, call: str) -> DeserializationSchema[Any]:
    """``value`` itself if it reads the value of a record."""
    hint = "Give a DeserializationSchema, such as SimpleStringSchema(), or an object of a class derived from it."
    return checks.instance(value, call, DeserializationSchema, hint, ", which is not a DeserializationSchema")


def record_schema(value: Any, call: str) -> KafkaRecordDeserializationSchema[Any]:
    """``value`` itself if it reads whole records."""
    hint = (
        "Give an object of a class derived from KafkaRecordDeserializationSchema; a schema of values goes to "
        "set_value_only_deserializer()."
    )
    why = ", which is not a KafkaRecordDeserializationSchema"
    return checks.instance(value, call, KafkaRecordDeserializationSchema, hint, why)
