"""From key to key group, slowly: the arithmetic of ``KeyGroupRangeAssignment`` and of Java's dates, written out."""

from __future__ import annotations

from datetime import date, datetime

from tests.reference.java import to_int32


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) % 2**32


def reference_group(hash_code: int, max_parallelism: int) -> int:
    """The key group of a hash code: one round of MurmurHash3 and its end, all modulo 2³²."""
    mixed = _rotated(hash_code % 2**32 * 0xCC9E2D51 % 2**32, 15) * 0x1B873593 % 2**32
    state = (_rotated(mixed, 13) * 5 + 0xE6546B64) % 2**32 ^ 4
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ state >> shift) * factor % 2**32
    signed = to_int32(state ^ state >> 16)
    return (0 if signed == -(2**31) else abs(signed)) % max_parallelism


def reference_date_hash(value: date) -> int:
    """``hashCode`` of a java.util.Date: its milliseconds, the high half over the low one."""
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    days = moment.toordinal() - date(1970, 1, 1).toordinal()
    seconds = days * 24 * 3600 + moment.hour * 3600 + moment.minute * 60 + moment.second
    millis = seconds * 1000 + moment.microsecond // 1000
    unsigned = millis % 2**64
    return to_int32(unsigned % 2**32 ^ unsigned // 2**32)
