"""Partitions in the state of ``FlinkKafkaConsumer``, the one class whose objects Kryo wrote for Flink itself.

An object is its class, by number or name, a mark that it is new, then the fields by name: the hash that it has kept,
the number of the partition, the topic. Source of the semantics: Kryo 2.24 (``FieldSerializer``, ``Output``) and
Flink's ``KafkaTopicPartition``.
"""

from __future__ import annotations

from penstock.flink.entries.scalars import counted
from penstock.flink.entries.values import Pojo

CLASS = "org.apache.flink.streaming.connectors.kafka.internals.KafkaTopicPartition"
_NULL, _BY_NAME, _NEW = 0, 1, 1
_MORE_BYTES, _LENGTH, _MORE_OF_LENGTH = 0x80, 0x80, 0x40


def read_partition(data: bytes, at: int) -> tuple[Pojo | None, int]:
    """A partition, with ``topic`` and ``partition``. A ValueError: it is damaged, or was written otherwise."""
    kind, at = _number(data, at)
    if kind == _NULL:
        return None, at
    if kind == _BY_NAME:
        _, at = _number(data, at)  # of the name
        name, at = _text(data, at)
        if name != CLASS:
            raise ValueError(f"an object of Kryo is a {name}")
    mark, at = _number(data, at)
    _, at = _number(data, at)  # the hash
    partition, at = _number(data, at)
    topic_mark, at = _number(data, at)
    if (mark, topic_mark) != (_NEW, _NEW):
        raise ValueError("an object of Kryo refers to another one")
    topic, at = _text(data, at)
    return Pojo({"topic": topic, "partition": (partition >> 1) ^ -(partition & 1)}), at


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first."""
    number = shift = 0
    while shift < 35:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if not byte & _MORE_BYTES:
            return number, at
        shift += 7
    raise ValueError("a number of Kryo has more than five bytes")


def _text(data: bytes, at: int) -> tuple[str, int]:
    """A text of ASCII: as it is, with a mark on the last byte; or, if it is short or long, after its length and one."""
    first = data[at]
    if not first & _LENGTH:
        end = at
        while not data[end] & 0x80:
            end += 1
        return (data[at:end] + bytes([data[end] & 0x7F])).decode("ascii"), end + 1
    length, shift = first & 0x3F, 6
    at += 1
    more = first & _MORE_OF_LENGTH
    while more and shift < 34:
        byte = data[at]
        at += 1
        length |= (byte & 0x7F) << shift
        more, shift = byte & _MORE_BYTES, shift + 7
    if length < 2:
        raise ValueError("a text of Kryo is null or empty")
    end = at + counted(length - 1, data, at)
    return data[at:end].decode("ascii"), end
