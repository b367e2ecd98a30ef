"""Values as Java reads them from texts, and writes them: the table by type that CSV and JSON share, in messages and
files. Sources of the semantics: ``Integer.parseInt``, ``Double.parseDouble``, ``new BigDecimal``, ``valueOf`` of
``java.sql``, and the ISO formats of ``java.time``. Digits beyond the microsecond, which Python lacks, are cut off."""

from __future__ import annotations

import base64
import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import NamedTuple, NoReturn

from penstock.common.typeinfo import BasicType, SqlTimeType
from penstock.common.typesystem.conversions import Convert
from penstock.runtime.buffers.borders import float32
from penstock.runtime.buffers.value_checks import BITS, Kind
from penstock.runtime.columns.parts import Unfit, of_type, within
from penstock.runtime.io.text import java_double, java_float, sql_time_text

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
    match = _ISO_DATE.fullmatch(text) or _no(text, "date such as 2026-11-22")
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        _no(text, "day of the calendar")


def utc_time(text: str) -> time:
    """``12:34:56Z``, whole seconds."""
    match = _UTC_TIME.fullmatch(text)
    if not match or int(match[4] or 0):
        _no(text, "time of whole seconds in UTC such as 12:34:56Z")
    return _time(match, text)


def utc_moment(text: str) -> datetime:
    """``2026-11-22T12:34:56.789Z``."""
    match = _UTC_TIME.fullmatch(text[11:])
    if not match or text[10] != "T":
        _no(text, "timestamp in UTC such as 2026-11-22T12:34:56.789Z")
    moment = datetime.combine(iso_date(text[:10]), _time(match, text))
    return moment + timedelta(days=match[1] == "24")


def _time(match: re.Match[str], text: str) -> time:
    """The time of a match; 24:00:00 is midnight."""
    hour, minute, second, fraction = match.groups("")
    if (hour, minute, second) == ("24", "00", "00") and not int(fraction or 0):
        hour = "0"
    try:
        return time(int(hour), int(minute), int(second), _micros(fraction))
    except ValueError:
        _no(text, "time of day")


def sql_date(text: str) -> date:
    """``Date.valueOf``: zeros at the front may be missing; a day up to 31 that its month does not have runs over."""
    match = _SQL_DATE.fullmatch(text) or _no(text, "date such as 2026-11-22")
    year, month, day = map(int, match.groups())
    if not 1 <= day <= 31:
        _no(text, "day of the calendar")
    try:
        return date(year, month, 1) + timedelta(days=day - 1)
    except (ValueError, OverflowError):
        _no(text, "day of the calendar")


def sql_time(text: str) -> time:
    """``Time.valueOf``: zeros at the front may be missing, and what is too large runs over."""
    match = _SQL_TIME.fullmatch(text) or _no(text, "time such as 12:34:56")
    hour, minute, second = map(int, match.groups())
    return (datetime.min + timedelta(seconds=(hour * 3600 + minute * 60 + second) % 86400)).time()


def sql_moment(text: str) -> datetime:
    """``Timestamp.valueOf``: ``2026-11-22 12:34:56.789``; what is too large runs over."""
    match = _SQL_MOMENT.fullmatch(trimmed(text)) or _no(text, "timestamp such as 2026-11-22 12:34:56.789")
    hour, minute, second = map(int, match.group(2, 3, 4))
    spent = timedelta(hours=hour, minutes=minute, seconds=second, microseconds=_micros(match[5] or ""))
    return datetime.combine(sql_date(match[1]), time()) + spent


def _micros(fraction: str) -> int:
    return int(fraction.ljust(6, "0")[:6])


class Texts(NamedTuple):
    """The texts of a type: the reading of one, and the writing of a value of its classes."""

    read: Convert
    write: Convert
    classes: tuple[type, ...]
    what: str  # a value, for messages
    bits: int = 0  # of a whole number; 0 for any

    @property
    def fitting(self) -> Convert:
        """The writing of a value of these classes; numbers that are too large are refused."""
        write, fit = self.write, within(self.bits)
        return (lambda value: write(fit(value))) if self.bits else write

    @property
    def checked(self) -> Convert:
        """The writing of a value of any class; values of other classes are refused, too."""
        return of_type(*self.classes, what=self.what)(self.fitting)


def fraction(microsecond: int, digits: int = 6) -> str:
    """The fraction of a second with its point; nothing of a whole one."""
    return f".{microsecond:0{digits}d}".rstrip("0.")


BYTES = Texts(bytes_of, lambda value: base64.b64encode(value).decode(), (bytes, bytearray), "bytes object")
_BITS = {**BITS, BasicType.BIG_INT: 0}
TEXTS: dict[Kind | None, Texts] = {
    **{kind: Texts(whole_number(bits), str, (int,), "whole number", bits) for kind, bits in _BITS.items()},
    BasicType.STRING: Texts(str, str, (str,), "text"),
    BasicType.BOOLEAN: Texts(truth, lambda value: "true" if value else "false", (bool,), "bool"),
    BasicType.FLOAT: Texts(single, java_float, (float, int), "number"),
    BasicType.DOUBLE: Texts(double, java_double, (float, int), "number"),
    BasicType.BIG_DEC: Texts(decimal, str, (Decimal, int), "Decimal"),
    SqlTimeType.DATE: Texts(sql_date, lambda value: value.isoformat()[:10], (date,), "date"),
    SqlTimeType.TIME: Texts(sql_time, lambda value: f"{value:%H:%M:%S}", (time,), "time"),
    SqlTimeType.TIMESTAMP: Texts(sql_moment, sql_time_text, (datetime,), "datetime"),
}
"""Of messages and files. Spaces around a text do not count, but in a STRING. Days and times are those of CSV messages;
others have their own."""
