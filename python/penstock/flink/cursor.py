"""Reads big-endian numbers and Java strings from bytes, and knows the position.

Missing or wrong bytes raise an error with what was read, the byte and file, and what Flink throws at the same place.
Nothing is allocated for a count before its bytes are known to exist.
"""

from __future__ import annotations

import struct
from typing import NoReturn

from penstock.errors import FlinkSavepointError
from penstock.flink.texts import read_text

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


def plain(text: str) -> str:
    """A string from a stranger for a terminal, with unprintable characters and changes of direction escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


class Cursor:
    """A position in bytes."""

    __slots__ = ("at", "data", "file", "start")

    def __init__(self, data: bytes, file: str, start: int = 0) -> None:
        self.data = data
        self.file = file
        self.start = start
        self.at = 0

    def fail(self, problem: str, flink_class: str | None, flink_message: str | None = None) -> NoReturn:
        """Refuse the file at this position."""
        where = self.start + self.at
        raise FlinkSavepointError(
            f"{plain(self.file)} is damaged, cut off, or not a file of a Flink savepoint: at byte {where:,}, "
            f"{plain(problem)}. Copy it again from where Flink wrote it, or use another savepoint.",
            flink_class=flink_class,
            flink_message=flink_message,
            file=self.file,
            position=where,
        )

    def take(self, count: int, what: str) -> bytes:
        end = self.at + count
        if end > len(self.data):
            self.fail(f"{what} should follow ({count:,} bytes), and only {len(self.data) - self.at:,} are left", EOF)
        data = self.data[self.at : end]
        self.at = end
        return data

    def _number(self, form: struct.Struct, what: str) -> int:
        (number,) = form.unpack(self.take(form.size, what))
        return number

    def byte(self, what: str) -> int:
        return self._number(_BYTE, what)

    def bool(self, what: str) -> bool:
        return self._number(_BYTE, what) != 0

    def short(self, what: str) -> int:
        return self._number(_SHORT, what)

    def length(self, what: str) -> int:
        """Two bytes, not signed."""
        return self._number(_LENGTH, what)

    def int(self, what: str) -> int:
        return self._number(_INT, what)

    def long(self, what: str) -> int:
        return self._number(_LONG, what)

    def count(self, what: str) -> int:
        """Four bytes, the size of a Java array; negative is refused."""
        number = self._number(_INT, what)
        if number < 0:
            self.fail(f"{what} is {number}", NEGATIVE_SIZE, str(number))
        return number

    def longs(self, count: int, what: str) -> tuple[int, ...]:
        return struct.unpack(f">{count}q", self.take(8 * count, what))

    def utf(self, what: str) -> str:
        """A string in Java's modified UTF-8 after its length in two bytes. Half a surrogate pair is kept."""
        raw = self.take(self.length(f"the length of {what}"), what)
        return raw.decode("ascii") if raw.isascii() else self._decoded(raw, what)

    def text(self, what: str) -> str:
        """A text as Flink writes those of state, which is not null."""
        try:
            text, self.at = read_text(self.data, self.at)
        except IndexError:
            self.fail(f"{what} does not end before the file does", EOF)
        except ValueError as error:
            self.fail(f"{what} is damaged: {error}", IO)
        if text is None:
            self.fail(f"{what} is null", NULL_POINTER)
        return text

    def _decoded(self, raw: bytes, what: str) -> str:
        units: list[int] = []
        at, end = 0, len(raw)
        while at < end:
            lead = raw[at]
            size = 1 if lead < 0x80 else 2 if lead & 0xE0 == 0xC0 else 3 if lead & 0xF0 == 0xE0 else 0
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
