"""Values of state that Python has no type for, or no exact one: Java's times go to nanoseconds and to years that Python
lacks. They are tuples with names: equal by value, and cheap to make.

``text`` of a time is ISO 8601: seconds always, a fraction as long as it must be, UTC where it is a moment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_DAY, _DAYS_OF_400_YEARS = 86_400, 146_097
_TO_MARCH_OF_0 = 719_468  # days from 0000-03-01 to 1970-01-01


class Pojo(NamedTuple):
    """An object with fields, a POJO or a record of Avro."""

    fields: dict[str, Any]
    java_class: str | None = None  # if it is another one than that of the state's type


class Pairs(list[tuple[Any, Any]]):
    """A map whose keys Python cannot look up, such as lists and objects: its pairs, in the order of the file."""


class Either(NamedTuple):
    """A value of one of two types: of Flink's ``Either``, or of the two inputs of a join or co-group."""

    side: str  # "left" or "right", "first" or "second"
    value: Any


class TimeWindow(NamedTuple):
    """A window, from ``start`` to before ``end``, in milliseconds."""

    start: int
    end: int


class GlobalWindow(NamedTuple):
    """The one window of ``GlobalWindows``."""


class CountWindow(NamedTuple):
    """A window of a number of records."""

    id: int


class Ttl(NamedTuple):
    """A value with a time to live."""

    last_access: int  # in milliseconds
    value: Any


class StreamRecord(NamedTuple):
    """A record that an operator has put aside."""

    timestamp: int | None
    value: Any


class Watermark(NamedTuple):
    """A watermark among records that an operator has put aside."""

    timestamp: int


class JoinedElement(NamedTuple):
    """A record that waits in an interval join."""

    value: Any
    joined: bool  # whether it has met another one


class LocalDate(NamedTuple):
    """A date."""

    year: int
    month: int
    day: int

    @property
    def text(self) -> str:
        """As in ``2026-01-31``."""
        year = f"{self.year:04d}" if 0 <= self.year <= 9999 else f"{self.year:+05d}"
        return f"{year}-{self.month:02d}-{self.day:02d}"


class LocalTime(NamedTuple):
    """A time of day."""

    hour: int
    minute: int
    second: int
    nano: int

    @property
    def text(self) -> str:
        """As in ``23:59:00.5``."""
        fraction = f".{self.nano:09d}".rstrip("0") if self.nano else ""
        return f"{self.hour:02d}:{self.minute:02d}:{self.second:02d}{fraction}"


class LocalDateTime(NamedTuple):
    """A date and a time of day, without a time zone."""

    date: LocalDate
    time: LocalTime

    @property
    def text(self) -> str:
        """As in ``2026-01-31T23:59:00``."""
        return f"{self.date.text}T{self.time.text}"


class Instant(NamedTuple):
    """A moment: an ``Instant``, ``java.util.Date``, or a date, time or timestamp of SQL."""

    seconds: int  # since 1970, in UTC
    nano: int

    @property
    def text(self) -> str:
        """As in ``2026-01-31T23:59:00Z``."""
        days, second = divmod(self.seconds, _DAY)
        minute, second = divmod(second, 60)
        return f"{_date(days).text}T{LocalTime(*divmod(minute, 60), second, self.nano).text}Z"


def _date(days: int) -> LocalDate:
    """The date so many days after 1970-01-01, of a calendar that is Gregorian for ever. Years begin in March here, so
    that the day that is sometimes there is the last one."""
    eras, day = divmod(days + _TO_MARCH_OF_0, _DAYS_OF_400_YEARS)
    year = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day -= (153 * month + 2) // 5
    month = month + 3 if month < 10 else month - 9
    return LocalDate(400 * eras + year + (month <= 2), month, day + 1)
