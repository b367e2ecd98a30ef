"""Values as Java reads them from texts, and writes them: the table by type that CSV and JSON share.

Sources of the semantics: ``Integer.parseInt``, ``Double.parseDouble``, ``new BigDecimal``, ``Date.valueOf``,
``Time.valueOf``, ``Timestamp.valueOf``, and the ISO formats of ``java.time``. Fractions of a second beyond the
microsecond, which Python does not have, are cut off.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NoReturn

from penstock.common.typeinfo import BasicType
from penstock.common.typesystem.conversions import Convert
from penstock.runtime.buffers.borders import float32
from penstock.runtime.io.text import java_double, java_float

_WHITE = "".join(map(chr, range(33)))
_INTEGER = re.compile(r"[+-]?\d+")
_FLOAT = re.compile(r"[+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?)")
_HEX_FLOAT = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_UTC_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{0,9}))?Z")
_SQL_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_SQL_TIME = re.compile(r"(\d+):(\d+):(\d+)")
_SQL_MOMENT = re.compile(r"(\d{4}-\d{1,2}-\d{1,2}) (\d+):(\d+):(\d+)(?:\.(\d{1,9}))?")


class Unfit(ValueError):
    """A value that does not fit its type. ``why`` continues a sentence that begins with the value; its field's path is
    added on the way out."""

    def __init__(self, value: object, why: str) -> None:
        super().__init__(value, why)
        self.value, self.why = value, why
        self.path: list[str] = []

    def __str__(self) -> str:
        return f"it {self.why}"

    def inside(self, part: str) -> Unfit:
        """The same, one level further out: ``.name`` or ``[2]``."""
        self.path.append(part)
        return self

    @property
    def place(self) -> str:
        """The field, such as ``items[2].name``."""
        return "".join(reversed(self.path)).removeprefix(".")


def trimmed(text: str) -> str:
    """``String.trim``: without what is below ``!`` at its ends."""
    return text.strip(_WHITE)


def _no(text: str, what: str) -> NoReturn:
    raise Unfit(text, f"is not a {what}")


def whole_number(bits: int) -> Convert:
    """The reader of integers of so many bits, 0 for any; spaces around them do not count."""
    limit = 1 << bits - 1 if bits else 0
    what = f"whole number of {bits} bits" if bits else "whole number"

    def read(text: str) -> int:
        bare = trimmed(text)
        if not _INTEGER.fullmatch(bare):
            _no(text, what)
        number = int(bare)
        if limit and not -limit <= number < limit:
            _no(text, what)
        return number

    return read


def double(text: str) -> float:
    """``Double.parseDouble``."""
    bare = trimmed(text)
    if _FLOAT.fullmatch(bare):
        return float(bare.rstrip("fFdD") if bare[-1:] in "fFdD" and "n" not in bare else bare)
    if not _HEX_FLOAT.fullmatch(bare):
        _no(text, "number")
    try:
        return float.fromhex(bare.rstrip("fFdD"))
    except OverflowError:
        return float("-inf" if bare[0] == "-" else "inf")


def single(text: str) -> float:
    """``Float.parseFloat``: rounded to 32 bits."""
    return float32(double(text))


def decimal(text: str) -> Decimal:
    """``new BigDecimal``; spaces around the number do not count."""
    bare = trimmed(text)
    if not _DECIMAL.fullmatch(bare):
        _no(text, "decimal number")
    number = Decimal(bare)
    return number if number else abs(number)  # Java has no negative zero here


def bytes_of(text: str) -> bytes:
    """Base64 with its padding; spaces and line ends in it do not count."""
    bare = "".join(text.split())
    if not _BASE64.fullmatch(bare):
        _no(text, "text in base64")
    return base64.b64decode(bare)


def truth(text: str) -> bool:
    """``Boolean.parseBoolean``: ``true`` in any case is True, all else is False; spaces around it do not count."""
    return trimmed(text).lower() == "true"


def iso_date(text: str) -> date:
    """``2026-11-22``."""
    found = _ISO_DATE.fullmatch(text)
    return _date(found, text) if found else _no(text, "date such as 2026-11-22")


def utc_time(text: str) -> time:
    """``12:34:56Z``, whole seconds."""
    found = _UTC_TIME.fullmatch(text)
    if not found or int(found[4] or 0):
        _no(text, "time of whole seconds in UTC such as 12:34:56Z")
    return _time(_midnight(found), "", text)


def utc_moment(text: str) -> datetime:
    """``2026-11-22T12:34:56.789Z``."""
    found = _UTC_TIME.fullmatch(text[11:])
    if not found or text[10] != "T":
        _no(text, "timestamp in UTC such as 2026-11-22T12:34:56.789Z")
    moment = datetime.combine(iso_date(text[:10]), _time(_midnight(found), found[4] or "", text))
    return moment + timedelta(days=found[1] == "24")


def _midnight(found: re.Match[str]) -> tuple[str, ...]:
    """The parts of a time; 24:00:00 is midnight."""
    parts = found.group(1, 2, 3)
    return ("0", "0", "0") if parts == ("24", "00", "00") and not int(found[4] or 0) else parts


def sql_date(text: str) -> date:
    """``Date.valueOf``: zeros at the front may be missing. A day that its month does not have, up to 31, runs over into
    the next."""
    found = _SQL_DATE.fullmatch(text)
    if not found:
        _no(text, "date such as 2026-11-22")
    year, month, day = map(int, found.groups())
    if not 1 <= day <= 31:
        _no(text, "day of the calendar")
    try:
        return date(year, month, 1) + timedelta(days=day - 1)
    except (ValueError, OverflowError):
        _no(text, "day of the calendar")


def sql_time(text: str) -> time:
    """``Time.valueOf``: zeros at the front may be missing, and what is too large runs over."""
    found = _SQL_TIME.fullmatch(text)
    if not found:
        _no(text, "time such as 12:34:56")
    hour, minute, second = map(int, found.groups())
    return (datetime.min + timedelta(seconds=(hour * 3600 + minute * 60 + second) % 86400)).time()


def sql_moment(text: str) -> datetime:
    """``Timestamp.valueOf``: ``2026-11-22 12:34:56.789``; what is too large runs over."""
    found = _SQL_MOMENT.fullmatch(trimmed(text))
    if not found:
        _no(text, "timestamp such as 2026-11-22 12:34:56.789")
    hour, minute, second = map(int, found.group(2, 3, 4))
    spent = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=int(_micros(found[5] or "")))
    return datetime.combine(sql_date(found[1]), time()) + spent


def _micros(fraction: str) -> str:
    return fraction.ljust(6, "0")[:6] or "0"


def _date(found: re.Match[str], text: str) -> date:
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        _no(text, "day of the calendar")


def _time(parts: tuple[str, ...], fraction: str, text: str) -> time:
    try:
        return time(int(parts[0]), int(parts[1]), int(parts[2]), int(_micros(fraction)))
    except ValueError:
        _no(text, "time of day")


def of_type(*kinds: type, what: str) -> Callable[[Convert], Convert]:
    """Limits a writer to values of some classes."""

    def decorate(write: Convert) -> Convert:
        def checked(value: Any) -> Any:
            if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
                raise Unfit(value, f"is not a {what}")
            return write(value)

        return checked

    return decorate


def _whole(bits: int) -> Convert:
    limit = 1 << bits - 1 if bits else 0

    @of_type(int, what="whole number")
    def write(value: int) -> str:
        if limit and not -limit <= value < limit:
            raise Unfit(value, f"does not fit into {bits} bits")
        return str(value)

    return write


_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64, BasicType.BIG_INT: 0}
READERS: dict[BasicType, Convert] = {
    **{kind: whole_number(bits) for kind, bits in _BITS.items()},
    BasicType.STRING: str,
    BasicType.BOOLEAN: truth,
    BasicType.FLOAT: single,
    BasicType.DOUBLE: double,
    BasicType.BIG_DEC: decimal,
}
"""Texts as values. Spaces around them do not count, but in a text."""
WRITERS: dict[BasicType, Convert] = {
    **{kind: _whole(bits) for kind, bits in _BITS.items()},
    BasicType.STRING: of_type(str, what="text")(str),
    BasicType.BOOLEAN: of_type(bool, what="bool")(lambda value: "true" if value else "false"),
    BasicType.FLOAT: of_type(float, int, what="number")(java_float),
    BasicType.DOUBLE: of_type(float, int, what="number")(java_double),
    BasicType.BIG_DEC: of_type(Decimal, int, what="Decimal")(str),
}
"""Values as texts."""
base64_of = of_type(bytes, bytearray, what="bytes object")(lambda value: base64.b64encode(value).decode())
