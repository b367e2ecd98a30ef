"""Serializes records of a stream as Kafka records.

Source of the semantics: ``KafkaRecordSerializationSchemaBuilder``, ``FlinkFixedPartitioner`` (Flink's Kafka connector
3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.common.callables import shown
from penstock.common.serialization import SerializationSchema
from penstock.connectors.kafka.records import Row
from penstock.errors import InvalidProgramError, PenstockError
from penstock.runtime.usercode.failure import failure_of

Headers = Sequence[tuple[str, "bytes | None"]]
Partitions = Callable[[str], Sequence[int]]  # looks up the partitions of a topic


@dataclass(frozen=True, eq=False)
class RecordSerializer:
    """Makes a Kafka record of a record of the stream."""

    topic: str | Callable[[Any], str]
    value: SerializationSchema[Any]
    key: SerializationSchema[Any] | None = None
    partitioner: Callable[[Any, bytes | None, bytes | None, str, Sequence[int]], int] | None = None
    headers: Callable[[Any], Any] | None = None

    @property
    def fixed_topic(self) -> str | None:
        """The topic, if it is the same for all records."""
        return self.topic if isinstance(self.topic, str) else None

    @property
    def shown(self) -> str:
        """The destination, for people."""
        return "topics by a selector" if self.fixed_topic is None else repr(self.fixed_topic)

    def opened(self, subtask: int, partitions: Partitions) -> Callable[[Sequence[Any], int | None], list[Row]]:
        """A function that serializes records with one timestamp, for one subtask."""
        if isinstance(self.topic, str) and self.key is self.partitioner is self.headers is None:
            return self._values(self.topic)
        row_of = self._record(subtask, partitions)

        def rows_of(elements: Sequence[Any], timestamp: int | None) -> list[Row]:
            time, element = max(timestamp or 0, 0), None
            rows: list[Row] = []
            try:
                for element in elements:
                    rows.append(row_of(element, time))
            except PenstockError:
                raise
            except Exception as error:
                raise _failed(element, error) from error
            return rows

        return rows_of

    def _values(self, topic: str) -> Callable[[Sequence[Any], int | None], list[Row]]:
        """Fast path: values only, one topic, and no function but the schema."""
        schema, value_of = self.value, self.value.serialize

        def rows_of(elements: Sequence[Any], timestamp: int | None) -> list[Row]:
            time, element = max(timestamp or 0, 0), None
            rows: list[Row] = []
            try:
                for element in elements:
                    value: Any = value_of(element)
                    if type(value) is not bytes:
                        value = _bytes(value, "value", schema)
                    rows.append((topic, -1, time, None, value, None))
            except PenstockError:
                raise
            except Exception as error:
                raise _failed(element, error) from error
            return rows

        return rows_of

    def _record(self, subtask: int, partitions: Partitions) -> Callable[[Any, int], Row]:
        topic_of, value_of, headers_of = self._topic(), self.value.serialize, self.headers
        key_of = (lambda element: None) if self.key is None else self.key.serialize
        chosen = fixed(subtask) if self.partitioner is FIXED else self.partitioner

        def row(element: Any, time: int) -> Row:
            topic, partition = topic_of(element), -1
            key, value = _bytes(key_of(element), "key", self.key), _bytes(value_of(element), "value", self.value)
            if chosen is not None:
                partition = _partition(chosen(element, key, value, topic, known := partitions(topic)), known, topic)
            headers = None if headers_of is None else _headers(headers_of(element)) or None
            return topic, partition, time, key, value, headers

        return row

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


def _failed(element: Any, error: Exception) -> Exception:
    return failure_of(f"record serializer of a KafkaSink, given {shown(element)}", "in", error)


def FIXED(*_: Any) -> int:
    """Stands for :func:`fixed` until the subtask is known."""
    raise AssertionError("FIXED is replaced when a task starts")


def fixed(subtask: int) -> Callable[[Any, bytes | None, bytes | None, str, Sequence[int]], int]:
    """All records of a subtask go to one partition (Flink: ``FlinkFixedPartitioner``)."""
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


def _partition(partition: Any, partitions: Sequence[int], topic: str) -> int:
    if type(partition) is int and partition in partitions:
        return partition
    raise InvalidProgramError(
        f"The partitioner has returned {shown(partition)}, and the topic {topic!r} has the partitions "
        f"{list(partitions)}. Return one of them."
    )


def _headers(headers: Any) -> Headers:
    pairs: Any = headers.items() if isinstance(headers, Mapping) else headers or ()
    if isinstance(pairs, Iterable) and not isinstance(pairs, str | bytes):
        tuples = [tuple(pair) for pair in pairs]
        if all(len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], bytes | None) for pair in tuples):
            return tuples  # type: ignore[return-value]
    raise InvalidProgramError(
        f"The header provider has returned {shown(headers)}. Return pairs of a text and bytes: [('trace', b'17')]."
    )
