"""Records that wait in a file until their job has succeeded, and are then sent: written by tasks, read by the driver.

A record is its fields one after the other, with lengths; −1 stands for none. Whoever reads needs no more memory than a
record takes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

from penstock.runtime.kafka.serializing import OutRecord

_HEAD = struct.Struct("<iqiiii")  # partition, timestamp, then bytes of topic, key, value, and the number of headers
_LENGTHS = struct.Struct("<ii")


def packed(record: OutRecord) -> bytes:
    """The bytes of a record."""
    topic, headers = record.topic.encode(), record.headers
    partition = -1 if record.partition is None else record.partition
    timestamp = -1 if record.timestamp is None else record.timestamp
    head = _HEAD.pack(partition, timestamp, len(topic), _length(record.key), _length(record.value), len(headers))
    parts = [head, topic, record.key or b"", record.value or b""]
    for name, value in headers:
        encoded = name.encode()
        parts += [_LENGTHS.pack(len(encoded), _length(value)), encoded, value or b""]
    return b"".join(parts)


def read_records(file: IO[bytes]) -> Iterator[OutRecord]:
    """The records of a file from its position on. After each, the file's position is the one behind it.

    Args:
        file: open, buffered.

    Raises:
        EOFError: the file ends inside a record.
    """
    while head := file.read(_HEAD.size):
        partition, timestamp, topic, key, value, headers = _HEAD.unpack(_whole(head, _HEAD.size))
        yield OutRecord(
            (_field(file, topic) or b"").decode(),
            None if partition < 0 else partition,
            None if timestamp < 0 else timestamp,
            _field(file, key),
            _field(file, value),
            [_header(file) for _ in range(headers)],
        )


def _header(file: IO[bytes]) -> tuple[str, bytes | None]:
    name, value = _LENGTHS.unpack(_whole(file.read(_LENGTHS.size), _LENGTHS.size))
    return (_field(file, name) or b"").decode(), _field(file, value)


def _field(file: IO[bytes], length: int) -> bytes | None:
    return None if length < 0 else _whole(file.read(length), length)


def _whole(data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise EOFError("a file of records that wait for Kafka ends inside a record")
    return data


def _length(data: bytes | None) -> int:
    return -1 if data is None else len(data)
