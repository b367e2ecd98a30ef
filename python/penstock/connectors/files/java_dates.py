"""Formats times by patterns of Java's ``DateTimeFormatter``, such as ``yyyy-MM-dd--HH``, with English names, and finds
time zones by their names in Java.

Letters whose meaning depends on the machine's locale (``Y``, ``w``, ``e``, ``z``, …) are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from typing import NoReturn
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.common import checks
from penstock.errors import UnsupportedError

Text = Callable[[datetime], str]

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_TOKEN = re.compile(r"'((?:[^']|'')*)'|(([A-Za-z])\3*)|([^'])", re.DOTALL)
_OFFSET = re.compile(r"(UTC|GMT|UT|Z)?(?:([+-])(\d{1,2})(?::?(\d{2}))?)?")


def formatter(pattern: str, call: str) -> Text:
    """A function that formats a datetime."""
    parts: list[Text] = []
    end = 0
    for token in _TOKEN.finditer(pattern):
        if token.start() != end:
            break
        end = token.end()
        parts.append(_part(token, pattern, call))
    if end != len(pattern):
        _refuse(pattern, call, "a quotation mark is not closed")
    return lambda moment: "".join([part(moment) for part in parts])


def _part(token: re.Match[str], pattern: str, call: str) -> Text:
    quoted, letters, letter, other = token.groups()
    if letters is not None:
        return _field(letter, len(letters), pattern, call)
    if other is not None and other in "{}#":
        _refuse(pattern, call, f"{other!r} is reserved")
    if other is not None:
        literal = "" if other in "[]" else other  # optional sections are always written
    else:
        literal = quoted.replace("''", "'") or "'"
    return lambda moment: literal


def _refuse(pattern: str, call: str, why: str) -> NoReturn:
    checks.refuse(
        f"{call}() was given the pattern {pattern!r}, but {why}. Give letters of Java's DateTimeFormatter, such as "
        "'yyyy-MM-dd--HH', and put texts in single quotes.",
        checks.ILLEGAL_ARGUMENT,
    )


def _field(letter: str, count: int, pattern: str, call: str) -> Text:
    """A function that formats one field: a letter and how often it is repeated."""
    if letter in _NUMBERS:
        number, most = _NUMBERS[letter]
        if count > most:
            _refuse(pattern, call, f"{letter!r} is repeated {count} times, and at most {most} are allowed")
        return lambda moment: f"{number(moment):0{count}d}"
    if letter in _DEPENDS:
        raise UnsupportedError(
            f"{call}() was given the pattern {pattern!r}. The meaning of {letter!r} depends on the machine's locale or "
            "on the version of Java. Use numbers of year, month, day and hour, such as 'yyyy-MM-dd--HH'."
        )
    if letter not in _TEXTS:
        _refuse(pattern, call, f"{letter!r} is not a pattern letter")
    text = _TEXTS[letter](count)
    if text is None:
        _refuse(pattern, call, f"{letter!r} is repeated too often")
    return text


_DEPENDS = frozenset("YwWeczOVvBgN")

_NUMBERS: dict[str, tuple[Callable[[datetime], int], int]] = {
    "d": (lambda moment: moment.day, 2),
    "D": (lambda moment: moment.timetuple().tm_yday, 3),
    "H": (lambda moment: moment.hour, 2),
    "k": (lambda moment: moment.hour or 24, 2),
    "K": (lambda moment: moment.hour % 12, 2),
    "h": (lambda moment: moment.hour % 12 or 12, 2),
    "m": (lambda moment: moment.minute, 2),
    "s": (lambda moment: moment.second, 2),
    "n": (lambda moment: moment.microsecond * 1000, 19),
    "A": (lambda moment: (moment.hour * 60 + moment.minute) * 60_000 + moment.second * 1000 + _millis(moment), 19),
}
"""Numbers with leading zeros, and the repetitions that are allowed."""


def _millis(moment: datetime) -> int:
    return moment.microsecond // 1000


def _year(count: int) -> Text | None:
    if count == 2:
        return lambda moment: f"{moment.year % 100:02d}"
    return (lambda moment: f"{moment.year:0{count}d}") if count <= 19 else None


def _name(names: tuple[str, ...], index: Callable[[datetime], int], count: int) -> Text:
    """Three letters for the short name, four for the full one, five for the first letter."""
    length = {4: None, 5: 1}.get(count, 3)
    return lambda moment: names[index(moment)][:length]


def _month(count: int) -> Text | None:
    if count <= 2:
        return lambda moment: f"{moment.month:0{count}d}"
    return _name(_MONTHS, lambda moment: moment.month - 1, count) if count <= 5 else None


def _quarter(count: int) -> Text | None:
    def number(moment: datetime) -> int:
        return (moment.month + 2) // 3

    if count <= 2:
        return lambda moment: f"{number(moment):0{count}d}"
    return (lambda moment: f"Q{number(moment)}") if count == 3 else None


def _fraction(count: int) -> Text | None:
    return (lambda moment: f"{moment.microsecond:06d}000"[:count]) if count <= 9 else None


def _offset(count: int, zero: str = "") -> Text | None:
    """Hours; minutes if they are not 0, or always; with or without a colon."""

    def text(moment: datetime) -> str:
        minutes = int((moment.utcoffset() or timedelta()).total_seconds()) // 60
        if minutes == 0 and zero:
            return zero
        hours, rest = divmod(abs(minutes), 60)
        end = "" if count == 1 and rest == 0 else f"{':' if count == 3 else ''}{rest:02d}"
        return f"{'-' if minutes < 0 else '+'}{hours:02d}{end}"

    return text if count <= 3 else None


_TEXTS: dict[str, Callable[[int], Text | None]] = {
    "y": _year,
    "u": _year,
    "M": _month,
    "L": _month,
    "Q": _quarter,
    "q": _quarter,
    "E": lambda count: _name(_DAYS, datetime.weekday, count) if count <= 5 else None,
    "a": lambda count: (lambda moment: "AM" if moment.hour < 12 else "PM") if count == 1 else None,
    "G": lambda count: (lambda moment: "AD") if count <= 3 else None,
    "S": _fraction,
    "X": lambda count: _offset(count, "Z"),
    "x": _offset,
    "Z": lambda count: _offset(2) if count <= 3 else None,
}
"""Formatters of fields that are not plain numbers, by letter; None for a number of letters that is not allowed."""


def zone(timezone_id: str, call: str) -> tzinfo:
    """A time zone by its name in Java: an IANA name such as ``Europe/Paris``, or an offset: ``UTC``, ``+02:00``."""
    offset_name = _OFFSET.fullmatch(timezone_id)
    if timezone_id and offset_name:
        _, sign, hours, minutes = offset_name.groups()
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        if offset <= timedelta(hours=18):
            return timezone(-offset if sign == "-" else offset)
    try:
        return ZoneInfo(timezone_id)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        checks.refuse(
            f"{call}() was given the time zone {timezone_id!r}, which is unknown. Give a name such as "
            "'Europe/Paris', or an offset such as 'UTC' or '+02:00'; where the system has no time zones, install the "
            "package tzdata.",
            checks.ILLEGAL_ARGUMENT,
        )
