"""Files of records that wait to be sent: tasks write them, and the driver sends them once the job has succeeded or a
manifest names them.

A file is a sequence of blocks, each with a header and some records. A reader needs memory for one block, and can start
at any block.
"""

from __future__ import annotations

import marshal
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, cast

from penstock.connectors.kafka import client
from penstock.connectors.kafka.client import Pool
from penstock.errors import ConfigurationError

Row = tuple[str, int, int, bytes | None, bytes | None, Sequence[tuple[str, bytes | None]] | None]
"""Topic, partition or −1, timestamp or 0, key, value, headers."""

RECORDS = 1_000  # most records in a block
BYTES = 1 << 18  # bytes of values that make a block full
_HEAD = struct.Struct("<4sII")
_MAGIC = b"pkr2"
_MARSHAL = 4


def packed(rows: Sequence[Row]) -> bytes:
    """A block of records."""
    try:
        data = marshal.dumps(cast("list[Any]", rows), _MARSHAL)
    except ValueError:  # classes derived from str or bytes
        data = marshal.dumps(cast("list[Any]", [_plain(row) for row in rows]), _MARSHAL)
    return _HEAD.pack(_MAGIC, len(data), zlib.crc32(data)) + data


def read_blocks(file: IO[bytes]) -> Iterator[list[Row]]:
    """The blocks of a file from its position on. After each one the file is positioned behind it."""
    while head := file.read(_HEAD.size):
        magic, length, checksum = _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0, 0)
        data = file.read(length)
        if magic != _MAGIC or len(data) != length or zlib.crc32(data) != checksum:
            raise ConfigurationError(
                f"The file {getattr(file, 'name', '')!r} of records that wait for Kafka is damaged before its byte "
                f"{file.tell()}: it is incomplete, was changed, or was written by another version of Penstock. Restore "
                "it from a copy; records before that place have been sent."
            )
        yield marshal.loads(data)


def _plain(row: Row) -> Row:
    topic, partition, timestamp, key, value, headers = row
    pairs = None if headers is None else [(_text(name), _bytes(data)) for name, data in headers]
    return _text(topic), partition, timestamp, _bytes(key), _bytes(value), pairs


def _text(text: Any) -> str:
    return "".join((text,))


def _bytes(data: Any) -> bytes | None:
    return None if data is None else b"".join((data,))


_TICK = 0.1
_MOST, _SECONDS = 8, 60.0
_DELIVERY = {"delivery.timeout.ms", "message.timeout.ms"}


def produce(producer: Any, rows: Sequence[Row]) -> None:
    """Hand records to Kafka's client; waits while its queue is full."""
    send, module = producer.produce, client.kafka()
    for row in rows:
        topic, partition, timestamp, key, value, headers = row
        while True:
            try:
                send(topic, value, key, partition, None, None, timestamp, headers)
                break
            except BufferError:
                producer.poll(_TICK)
            except module.KafkaException as error:
                raise undelivered(topic, key, client.reason(error)) from error


def undelivered(topic: str, key: bytes | None, why: str) -> ConfigurationError:
    """The error for a record that Kafka did not accept."""
    with_key = "without a key" if key is None else f"with the key {key[:100]!r}"
    return ConfigurationError(
        f"Kafka did not accept a record {with_key} for the topic {topic!r}: {why}. Check that the topic exists, can be "
        "written, and accepts records of that size; 'delivery.timeout.ms' sets how long to try."
    )


class PooledProducer:
    """A producer that is kept for the next step."""

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.key = frozenset(properties.items())
        self.failed: Callable[[Any, Any], None] = _ignore
        more: dict[str, Any] = {"on_delivery": self._delivered, "delivery_report_only_error": True}
        if not properties.keys() & _DELIVERY:
            more["delivery_timeout_ms"] = 120_000  # as Java's
        self.producer: Any = client.create("producer", properties, more)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.failed(error, message)

    def put(self) -> None:
        """Return it to the pool, once all its records are acknowledged."""
        self.failed = _ignore
        PRODUCERS.put(self)

    def close(self) -> None:
        """Close it and drop records that were not sent."""
        self.failed = _ignore
        self.producer.purge()
        self.producer.poll(0)


PRODUCERS: Pool[PooledProducer] = Pool(_MOST, _SECONDS)


def take_producer(properties: Mapping[str, str]) -> PooledProducer:
    """A producer from the pool, or a new one."""
    key = frozenset(properties.items())
    return PRODUCERS.take(lambda producer: producer.key == key) or PooledProducer(properties)


def _ignore(error: Any, message: Any) -> None:
    """Delivery report of a producer that is being closed."""
