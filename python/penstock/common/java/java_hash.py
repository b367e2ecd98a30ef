"""The hash codes of texts in Java's library, by which keys and the entries of maps find their places."""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def hash_string(value: str) -> int:
    """``String.hashCode``, over UTF-16 units."""
    h = 0
    units = value.encode() if value.isascii() else memoryview(value.encode("utf-16-le", "surrogatepass")).cast("H")
    for unit in units:
        h = (31 * h + unit) & _MASK
    return h - 0x100000000 if h & 0x80000000 else h
