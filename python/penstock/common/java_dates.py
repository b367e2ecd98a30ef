"""Texts of moments by the pattern letters of Java's ``DateTimeFormatter``, such as ``yyyy-MM-dd--HH``, with English
names; and time zones by their names in Java.

Letters whose meaning depends on the country of the machine (``Y``, ``w``, ``e``, ``z``, …) are refused.
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
    """What makes the text of a moment.

    Args:
        pattern: letters of Java.
        call: of the user, for the error.

    Raises:
        InvalidProgramError: Java does not know the pattern either.
        UnsupportedError: a letter with a meaning that depends on the machine.
    """
    parts: list[Text] = []
    end = 0
    for token in _TOKEN.finditer(pattern):
        if token.start() != end:
            break
        end = token.end()
        parts.append(_part(token, pattern, call))
    if end != len(pattern):
        _refuse(pattern, call, "a quotation mark in it is not closed")
    return lambda moment: "".join([part(moment) for part in parts])


def _part(token: re.Match[str], pattern: str, call: str) -> Text:
    quoted, letters, letter, other = token.groups()
    if letters is not None:
        return _field(letter, len(letters), pattern, call)
    if other is not None and other in "{}#":
        _refuse(pattern, call, f"{other!r} is reserved")
    if other is not None:
        literal = "" if other in "[]" else other  # what is optional is there
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
    """The text of a letter that stands there so many times."""
    if letter in _NUMBERS:
        number, most = _NUMBERS[letter]
        if count > most:
            _refuse(pattern, call, f"{letter!r} stands there {count} times, and {most} is the most")
        return lambda moment: f"{number(moment):0{count}d}"
    if letter in _DEPENDS:
        raise UnsupportedError(
            f"{call}() was given the pattern {pattern!r}. What {letter!r} means depends on the machine's country or on "
            "the version of Java. Use numbers of year, month, day and hour, such as 'yyyy-MM-dd--HH'."
        )
    if letter not in _TEXTS:
        _refuse(pattern, call, f"{letter!r} is no letter of it")
    text = _TEXTS[letter](count)
    if text is None:
        _refuse(pattern, call, f"{letter!r} stands there too often")
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
"""Numbers with leading zeros, and how many letters there may be."""


def _millis(moment: datetime) -> int:
    return moment.microsecond // 1000


def _year(count: int) -> Text | None:
    if count == 2:
        return lambda moment: f"{moment.year % 100:02d}"
    return (lambda moment: f"{moment.year:0{count}d}") if count <= 19 else None


def _name(names: tuple[str, ...], index: Callable[[datetime], int], count: int) -> Text:
    """Three letters are a short name, four the whole one, five its first letter."""
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
    """Hours, minutes where there are any; always minutes; with a colon between."""

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
"""What makes the text of a letter that stands there so many times; None if it may not."""


def zone(timezone_id: str, call: str) -> tzinfo:
    """A time zone by its name in Java: of the IANA, such as ``Europe/Paris``, or an offset: ``UTC``, ``+02:00``.

    Args:
        timezone_id: the name.
        call: of the user, for the error.

    Raises:
        InvalidProgramError: there is none of that name.
    """
    found = _OFFSET.fullmatch(timezone_id)
    if timezone_id and found:
        _, sign, hours, minutes = found.groups()
        offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0))
        if offset <= timedelta(hours=18):
            return timezone(-offset if sign == "-" else offset)
    try:
        return ZoneInfo(timezone_id)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        checks.refuse(
            f"{call}() was given the time zone {timezone_id!r}, which is not known here. Give a name such as "
            "'Europe/Paris', or an offset such as 'UTC' or '+02:00'; where the system has no time zones, install the "
            "package tzdata.",
            checks.ILLEGAL_ARGUMENT,
        )
