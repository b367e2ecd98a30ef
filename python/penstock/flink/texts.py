"""Texts as Flink's ``StringValue`` writes them: in keys and values, and in snapshots of Avro.

First comes the number of UTF-16 units plus one, 0 being null, then each unit; all of these as numbers of 7 bits a byte,
the lowest first, with the high bit set in all bytes but the last.
"""

from __future__ import annotations

import sys
from array import array

_LONGEST = 28  # the shift of the fifth byte, the last of an int
_UTF_16 = f"utf-16-{'le' if sys.byteorder == 'little' else 'be'}"


def read_text(data: bytes, at: int) -> tuple[str | None, int]:
    """Read a text.

    Args:
        data: bytes that have it.
        at: where it begins.

    Returns:
        It, and where it ends. Half a surrogate pair is kept.

    Raises:
        IndexError: the bytes end before it does.
        ValueError: it is damaged.

    Cost: linear; text in ASCII is decoded at once.
    """
    units, at = _number(data, at)
    return (None, at) if units == 0 else _units(data, at, units - 1)


def read_text_value(data: bytes, at: int) -> tuple[str, int]:
    """Read a text as ``StringValue`` writes itself, with the number of units as it is."""
    units, at = _number(data, at)
    return _units(data, at, units)


def _number(data: bytes, at: int) -> tuple[int, int]:
    number = data[at]
    at += 1
    if number < 0x80:
        return number, at
    number &= 0x7F
    for shift in range(7, _LONGEST + 1, 7):
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & 0xFFFFFFFF, at
    raise ValueError("a number of a text has more than 5 bytes")


def _units(data: bytes, at: int, count: int) -> tuple[str, int]:
    end = at + count
    if end > len(data):  # a unit takes at least a byte
        raise IndexError
    part = data[at:end]
    if part.isascii():
        return part.decode("ascii"), end
    units = array("H")
    for _ in range(count):
        unit, at = _number(data, at)
        units.append(unit & 0xFFFF)
    return units.tobytes().decode(_UTF_16, "surrogatepass"), at
