"""How records of a stream become records of Kafka's topics.

Source of the semantics: ``KafkaRecordSerializationSchemaBuilder``, ``FlinkFixedPartitioner`` (Flink's Kafka connector
3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.common.callables import shown
from penstock.common.serialization import SerializationSchema
from penstock.errors import InvalidProgramError

Headers = Sequence[tuple[str, "bytes | None"]]
Partitions = Callable[[str], Sequence[int]]
"""The partitions of a topic."""


class OutRecord(NamedTuple):
    """A record on its way into a topic (Kafka: ``ProducerRecord``).

    Attributes:
        topic: name of the topic.
        partition: number; None lets Kafka's client choose, by the key if there is one.
        timestamp: milliseconds since the epoch; None for the time of sending.
        key: None for none.
        value: None for none.
        headers: names and values, in order.
    """

    topic: str
    partition: int | None
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers


@dataclass(frozen=True, eq=False)
class RecordSerializer:
    """What makes a Kafka record of a stream's record.

    Attributes:
        topic: name of the topic, or what says it of a record.
        value: schema of values.
        key: schema of keys; None for no keys.
        partitioner: (record, key, value, topic, partitions) → partition; None leaves it to Kafka's client.
        headers: record → names and values; None for none.
    """

    topic: str | Callable[[Any], str]
    value: SerializationSchema[Any]
    key: SerializationSchema[Any] | None = None
    partitioner: Callable[[Any, bytes | None, bytes | None, str, Sequence[int]], int] | None = None
    headers: Callable[[Any], Any] | None = None

    @property
    def fixed_topic(self) -> str | None:
        """The topic, if it is the same for all records."""
        return self.topic if isinstance(self.topic, str) else None

    def opened(self, subtask: int, parallelism: int, partitions: Partitions) -> Callable[[Any, int | None], OutRecord]:
        """What makes the Kafka record of a record and its timestamp, in one subtask.

        Args:
            subtask: its number.
            parallelism: how many there are.
            partitions: looks up those of a topic.
        """
        topic_of, value_of = self._topic(), self.value.serialize
        key_of = (lambda element: None) if self.key is None else self.key.serialize
        headers_of = self.headers
        chosen = fixed(subtask) if self.partitioner is FIXED else self.partitioner

        def made(element: Any, timestamp: int | None) -> OutRecord:
            topic = topic_of(element)
            key, value = _bytes(key_of(element), "key", self.key), _bytes(value_of(element), "value", self.value)
            partition = None
            if chosen is not None:
                partition = _partition(chosen(element, key, value, topic, known := partitions(topic)), known, topic)
            headers = () if headers_of is None else _headers(headers_of(element))
            return OutRecord(topic, partition, None if (timestamp or 0) < 0 else timestamp, key, value, headers)

        return made

    def _topic(self) -> Callable[[Any], str]:
        topic = self.topic
        if isinstance(topic, str):
            return lambda element: topic

        def selected(element: Any) -> str:
            name = topic(element)
            if not isinstance(name, str) or not name:
                raise InvalidProgramError(
                    f"The topic selector has returned {shown(name)} for the record {shown(element)}. Return the name "
                    "of a topic."
                )
            return name

        return selected


def FIXED(*_: Any) -> int:
    """Stands for :func:`fixed` until the subtask is known."""
    raise AssertionError("it is replaced where a task begins")


def fixed(subtask: int) -> Callable[[Any, bytes | None, bytes | None, str, Sequence[int]], int]:
    """All records of a subtask go to one partition (Flink: ``FlinkFixedPartitioner``).

    Args:
        subtask: its number.
    """
    return lambda record, key, value, topic, partitions: partitions[subtask % len(partitions)]


def _bytes(data: Any, what: str, schema: Any) -> bytes | None:
    if data is None or isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        return bytes(data)
    raise InvalidProgramError(
        f"{type(schema).__name__}.serialize() has returned {shown(data)} as the {what} of a Kafka record; bytes are "
        "needed. Encode texts: text.encode()."
    )


def _partition(partition: Any, known: Sequence[int], topic: str) -> int:
    if type(partition) is int and partition in known:
        return partition
    raise InvalidProgramError(
        f"The partitioner has returned {shown(partition)}, and the topic {topic!r} has the partitions {list(known)}. "
        "Return one of them."
    )


def _headers(given: Any) -> Headers:
    pairs: Any = given.items() if isinstance(given, Mapping) else given or ()
    if isinstance(pairs, Iterable) and not isinstance(pairs, str | bytes):
        headers = [tuple(pair) for pair in pairs]
        if all(len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], bytes | None) for pair in headers):
            return headers  # type: ignore[return-value]
    raise InvalidProgramError(
        f"The header provider has returned {shown(given)}. Return pairs of a text and bytes: [('trace', b'17')]."
    )
