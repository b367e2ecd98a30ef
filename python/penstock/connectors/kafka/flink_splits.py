"""Positions of partitions in the state of Flink's ``KafkaSource`` and ``FlinkKafkaConsumer``.

A split of a KafkaSource is bytes: the version and length of the rest, then topic, number, the next offset, and the
offset at which reading stops. A FlinkKafkaConsumer has pairs of a partition and the offset of its last record that was
read.
Source of the semantics: Flink's ``KafkaPartitionSplitSerializer``, ``SimpleVersionedSerialization`` and
``FlinkKafkaConsumerBase``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

_SPLITS, _CONSUMED = "SourceReaderState", "topic-partition-offset-states"
_HEAD, _NUMBERS, _TEXT = struct.Struct(">iiH"), struct.Struct(">iqq"), 10
_EARLIEST, _NO_STOP = (-2, -915_623_761_775), -(1 << 63)

_Split = tuple[str, int, int, int]  # topic, number, the next offset, the one at which reading stops


def positions_of(state: str, elements: Iterable[Any]) -> dict[str, int | list[int]]:
    """The positions of partitions, as those of a source of ours: an offset, or a pair of it and the one at which
    reading stops.

    Args:
        state: the name of the list.
        elements: of the list.

    Returns:
        The positions by id of the split. Partitions that begin at their first record, and that nothing was read from,
        are left out, as new ones are read from there too.

    Raises ValueError: an element is not Kafka's, or begins where only Kafka can say.
    """
    positions: dict[str, int | list[int]] = {}
    for topic, number, offset, stop in _consumed(elements) if state == _CONSUMED else map(_split, elements):
        if offset in _EARLIEST:
            continue
        if offset < 0:
            raise ValueError(
                f"nothing of {topic}-{number} was read yet, and only Kafka can say where it begins ({offset})"
            )
        positions[f"{topic}-{number}"] = offset if stop == _NO_STOP else [offset, stop]
    return positions


def _split(element: Any) -> _Split:
    try:
        version, size, length = _HEAD.unpack_from(element)
        if version or size != len(element) - 8 or length + _TEXT + _NUMBERS.size != len(element):
            raise ValueError("its lengths do not fit")
        topic = element[_TEXT : _TEXT + length].decode()
        number, offset, stop = _NUMBERS.unpack_from(element, _TEXT + length)
    except (struct.error, TypeError, ValueError) as error:
        raise ValueError(f"a split is not one of Flink's KafkaSource: {error}") from error
    return topic, number, offset, stop


def _consumed(elements: Iterable[Any]) -> Iterator[_Split]:
    for element in elements:
        try:
            partition, last = element
            topic, number = partition.fields["topic"], partition.fields["partition"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"a partition is not one of a FlinkKafkaConsumer: {error}") from error
        yield topic, number, last if last < 0 else last + 1, _NO_STOP
