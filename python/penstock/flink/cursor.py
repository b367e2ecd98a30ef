"""Reads big-endian numbers and Java's texts from bytes, one after the other, and knows where it is.

What is missing or wrong is a :class:`~penstock.errors.FlinkSavepointError` that says what was read, at which byte of
which file, and what Flink throws at the same place. Nothing is allocated for a count before its bytes are seen to be
there, so a damaged count costs no memory.
"""

from __future__ import annotations

import struct
from typing import NoReturn

from penstock.errors import FlinkSavepointError

EOF = "java.io.EOFException"
IO = "java.io.IOException"
ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
ILLEGAL_STATE = "java.lang.IllegalStateException"
NULL_POINTER = "java.lang.NullPointerException"
NEGATIVE_SIZE = "java.lang.NegativeArraySizeException"
OUT_OF_BOUNDS = "java.lang.ArrayIndexOutOfBoundsException"
_BAD_TEXT = "java.io.UTFDataFormatException"

_BYTE, _SHORT, _INT, _LONG = struct.Struct(">b"), struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")
_LENGTH = struct.Struct(">H")
_TWO, _THREE = 0xC0, 0xE0


def plain(text: str) -> str:
    """A text of a stranger for a terminal: what cannot be seen, or turns the direction of writing, is escaped.

    Args:
        text: any, halves of surrogate pairs too.
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


class Cursor:
    """A position in bytes.

    Args:
        data: the bytes.
        file: what they are, for errors.
        start: of the first byte in the file, for errors.
    """

    __slots__ = ("at", "data", "file", "start")

    def __init__(self, data: bytes, file: str, start: int = 0) -> None:
        self.data = data
        self.file = file
        self.start = start
        self.at = 0

    @property
    def left(self) -> int:
        """How many bytes follow."""
        return len(self.data) - self.at

    def fail(self, said: str, flink_class: str | None, flink_message: str | None = None) -> NoReturn:
        """Refuse the file at this place.

        Args:
            said: what is wrong, for a person.
            flink_class: what Flink throws there.
            flink_message: with which message.

        Raises:
            FlinkSavepointError: always.
        """
        where = self.start + self.at
        raise FlinkSavepointError(
            f"{plain(self.file)} is damaged, cut off, or no file of a Flink savepoint: at byte {where:,}, "
            f"{plain(said)}. Copy it again from where Flink has written it, or take another savepoint.",
            flink_class=flink_class,
            flink_message=flink_message,
            file=self.file,
            position=where,
        )

    def take(self, count: int, what: str) -> bytes:
        """The next bytes.

        Args:
            count: how many, not negative.
            what: they are.
        """
        end = self.at + count
        if end > len(self.data):
            self.fail(f"{what} should follow ({count:,} bytes), and only {self.left:,} are left", EOF)
        found = self.data[self.at : end]
        self.at = end
        return found

    def _number(self, form: struct.Struct, what: str) -> int:
        end = self.at + form.size
        if end > len(self.data):
            self.fail(f"{what} should follow ({form.size} bytes), and only {self.left} are left", EOF)
        (found,) = form.unpack_from(self.data, self.at)
        self.at = end
        return found

    def byte(self, what: str) -> int:
        """A signed byte."""
        return self._number(_BYTE, what)

    def bool(self, what: str) -> bool:
        """A byte that is not zero."""
        return self._number(_BYTE, what) != 0

    def short(self, what: str) -> int:
        """Two bytes, signed."""
        return self._number(_SHORT, what)

    def length(self, what: str) -> int:
        """Two bytes, not signed."""
        return self._number(_LENGTH, what)

    def int(self, what: str) -> int:
        """Four bytes, signed."""
        return self._number(_INT, what)

    def long(self, what: str) -> int:
        """Eight bytes, signed."""
        return self._number(_LONG, what)

    def count(self, what: str) -> int:
        """Four bytes, the size of a Java array: not negative."""
        found = self._number(_INT, what)
        if found < 0:
            self.fail(f"{what} is {found}", NEGATIVE_SIZE, str(found))
        return found

    def longs(self, count: int, what: str) -> tuple[int, ...]:
        """Numbers of eight bytes each.

        Args:
            count: how many.
            what: they are.
        """
        return struct.unpack(f">{count}q", self.take(8 * count, what))

    def utf(self, what: str) -> str:
        """A text with its length of two bytes before it, in Java's modified UTF-8. Half a pair of surrogates stays."""
        length = self.length(f"the length of {what}")
        raw = self.take(length, what)
        return raw.decode("ascii") if raw.isascii() else self._decoded(raw, what)

    def _decoded(self, raw: bytes, what: str) -> str:
        units: list[int] = []
        at, end = 0, len(raw)
        while at < end:
            lead = raw[at]
            size = 1 if lead < 0x80 else 2 if lead & 0xE0 == _TWO else 3 if lead & 0xF0 == _THREE else 0
            if not size:
                self._malformed(what, f"malformed input around byte {at}")
            if at + size > end:
                self._malformed(what, "malformed input: partial character at end")
            unit = lead if size == 1 else lead & (0x1F if size == 2 else 0x0F)
            for following in raw[at + 1 : at + size]:
                if following & 0xC0 != 0x80:
                    self._malformed(what, f"malformed input around byte {at + size - 1}")
                unit = unit << 6 | following & 0x3F
            units.append(unit)
            at += size
        return struct.pack(f">{len(units)}H", *units).decode("utf-16-be", "surrogatepass")

    def _malformed(self, what: str, message: str) -> NoReturn:
        self.fail(f"{what} is not in Java's modified UTF-8", _BAD_TEXT, message)
