"""Bucket assigners: the folder, below the base of a file sink, for each record. Source of the semantics:
``BucketAssigner``, ``BasePathBucketAssigner``, ``DateTimeBucketAssigner`` (Flink 1.20)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any, Generic, NoReturn, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.common import checks
from penstock.errors import UnsupportedError

T_contra = TypeVar("T_contra", contravariant=True)

DATE_TIME_FORMAT = "yyyy-MM-dd--HH"  # the default format of date-time buckets


class BucketContext(ABC):
    """The ``context`` of :meth:`BucketAssigner.get_bucket_id`. Times are milliseconds."""

    __slots__ = ()

    @abstractmethod
    def current_processing_time(self) -> int:
        """The clock of the machine."""

    @abstractmethod
    def current_watermark(self) -> int:
        """The sink's watermark."""

    @abstractmethod
    def timestamp(self) -> int | None:
        """Timestamp of the record, None if it has none."""


class BucketAssigner(ABC, Generic[T_contra]):
    """Chooses the folder, below the base of a file sink, for each record (Flink: ``BucketAssigner``)."""

    Context = BucketContext

    @abstractmethod
    def get_bucket_id(self, element: T_contra, context: BucketContext, /) -> str:
        """The bucket of a record: a path from the base, such as ``country=se/2026``; "" for the base itself."""

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner[Any]:
        """Write all files to the base itself."""
        return BasePathBuckets()

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = DATE_TIME_FORMAT, timezone_id: str | None = None
    ) -> BucketAssigner[Any]:
        """A folder for each hour, or what else the format says, by the clock of the machine (Flink:
        ``DateTimeBucketAssigner``).

        Args:
            format_str: pattern of Java's ``DateTimeFormatter``; UnsupportedError for letters that depend on the
                machine.
            timezone_id: such as ``Europe/Paris`` or ``UTC``; None for the one of the machine.
        """
        return DateTimeBuckets(format_str, timezone_id)


class BasePathBuckets(BucketAssigner[Any]):
    """Writes all files to the base itself (Flink: ``BasePathBucketAssigner``)."""

    def __repr__(self) -> str:
        return "BasePathBucketAssigner()"

    def get_bucket_id(self, element: Any, context: BucketContext, /) -> str:
        return ""


class DateTimeBuckets(BucketAssigner[Any]):
    """Buckets by the clock; see :meth:`BucketAssigner.date_time_bucket_assigner`."""

    def __init__(self, format_str: str = DATE_TIME_FORMAT, timezone_id: str | None = None) -> None:
        call = "date_time_bucket_assigner"
        self._format = checks.text(format_str, call, "format")
        self._zone_id = checks.text(timezone_id, call, "time zone", optional=True)
        self._text = formatter(self._format, call)
        self._zone: tzinfo | None = None if self._zone_id is None else zone(self._zone_id, call)
        self._last: tuple[int, str] = (-1, "")

    def __reduce__(self) -> tuple[Any, ...]:
        return DateTimeBuckets, (self._format, self._zone_id)

    def __repr__(self) -> str:
        return f"DateTimeBucketAssigner({self._format!r}, {self._zone_id!r})"

    def get_bucket_id(self, element: Any, context: BucketContext, /) -> str:
        now = context.current_processing_time()
        if now != self._last[0]:
            moment = datetime.fromtimestamp(now // 1000, self._zone).replace(microsecond=now % 1000 * 1000)
            self._last = now, self._text(moment if self._zone is not None else moment.astimezone())
        return self._last[1]


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
    """The text of one field: a letter and how often it is repeated."""
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

_MILLISECOND = timedelta(milliseconds=1)
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
    "A": (lambda moment: (moment - moment.replace(hour=0, minute=0, second=0, microsecond=0)) // _MILLISECOND, 19),
}
"""Numbers with leading zeros, and the repetitions that are allowed."""


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
    if count <= 2:
        return lambda moment: f"{(moment.month + 2) // 3:0{count}d}"
    return (lambda moment: f"Q{(moment.month + 2) // 3}") if count == 3 else None


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
            f"{call}() was given the time zone {timezone_id!r}, which is unknown. Give a name such as 'Europe/Paris', "
            "or an offset such as '+02:00'; where the system has no time zones, install the package tzdata.",
            checks.ILLEGAL_ARGUMENT,
        )
