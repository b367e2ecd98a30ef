"""``hashCode`` of the Java objects that stand for moments, dates and other single values of Python's library.

A ``datetime.date`` is a ``java.sql.Date``, a ``time`` a ``Time``, a ``datetime`` a ``Timestamp``: all hash the
milliseconds since the epoch, counted here as if the clock were UTC's. Equal values with and without a zone never meet:
Python tells them apart.

Sources of the semantics: ``hashCode`` of java.util.Date and java.sql.Timestamp, java.time.Instant and Duration,
java.util.UUID, java.lang.String.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from enum import Enum
from typing import Any
from uuid import UUID

from penstock.common.time import Instant

_EPOCH = datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=timezone.utc)
_DAY = 86_400_000
_MASK = 0xFFFFFFFF


def _signed(value: int) -> int:
    """The low 32 bits as Java's int."""
    value &= _MASK
    return value - 0x100000000 if value & 0x80000000 else value


def _long(value: int) -> int:
    return _signed(value ^ (value >> 32))


def hash_date(value: date) -> int:
    """That of a ``java.sql.Date``; of a datetime that of its day."""
    return _long((value.toordinal() - _EPOCH.toordinal()) * _DAY)


def hash_time(value: time) -> int:
    """That of a ``java.sql.Time``: the milliseconds of the day, in UTC if the time has a zone."""
    since = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    return _long((since - (value.utcoffset() or timedelta())) // timedelta(milliseconds=1))


def hash_timestamp(value: datetime) -> int:
    """That of a ``java.sql.Timestamp``: milliseconds, whatever is behind them."""
    since = value - (_EPOCH if value.utcoffset() is None else _EPOCH_UTC)
    return _long(since // timedelta(milliseconds=1))


def hash_instant(value: Instant) -> int:
    """That of a ``java.time.Instant``."""
    return _signed(_long(value.seconds) + 51 * value.nanos)


def hash_duration(value: timedelta) -> int:
    """That of a ``java.time.Duration``."""
    return _signed(_long(value.days * 86_400 + value.seconds) + 51_000 * value.microseconds)


def hash_uuid(value: UUID) -> int:
    """That of a ``java.util.UUID``."""
    halves = (value.int >> 64) ^ value.int & 0xFFFFFFFFFFFFFFFF
    return _signed((halves >> 32) ^ halves)


def name_of_member(value: Enum) -> tuple[type, Any]:
    """What tells a member of an enumeration from all others, whichever copy of its class it has: the name, or of a sum
    of flags, which has none, the value. O(1)."""
    return Enum, (type(value).__qualname__, value.name if value.name is not None else value.value)


def hash_bytes(value: bytes | bytearray) -> int:
    """``Arrays.hashCode`` of a ``byte[]``."""
    h = 1
    for byte in value:
        h = (31 * h + (byte - 256 if byte > 127 else byte)) & _MASK
    return _signed(h)
