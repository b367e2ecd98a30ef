"""Files of records that wait to be sent: tasks write them, and the driver sends them once the job has succeeded or a
manifest names them.

A file is a sequence of blocks, each with a header and some records. A reader needs memory for one block, and can start
at any block.
"""

from __future__ import annotations

import marshal
import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import IO, Any, cast

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
