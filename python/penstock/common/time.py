"""Time and Duration: spans of time, as PyFlink names them, both plain milliseconds underneath; Instant, a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

from penstock.common import checks
from penstock.errors import InvalidProgramError


@dataclass(frozen=True, slots=True, order=True, init=False)
class Time:
    """A span of time, mostly of a window."""

    milliseconds_: int  # its length

    def __init__(self, milliseconds: int) -> None:
        object.__setattr__(self, "milliseconds_", milliseconds)

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        """So many milliseconds."""
        return Time(checks.span(milliseconds, "Time.milliseconds"))

    @staticmethod
    def seconds(seconds: int) -> Time:
        """So many seconds."""
        return Time(checks.span(seconds, "Time.seconds") * 1000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        """So many minutes."""
        return Time(checks.span(minutes, "Time.minutes") * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        """So many hours."""
        return Time(checks.span(hours, "Time.hours") * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        """So many days of 24 hours."""
        return Time(checks.span(days, "Time.days") * 86_400_000)

    def to_milliseconds(self) -> int:
        """The length in milliseconds."""
        return self.milliseconds_

    def __str__(self) -> str:
        return f"{self.milliseconds_} ms"


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time, mostly of watermarks."""

    milliseconds: int  # its length

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        """So many nanoseconds; what they have over whole milliseconds is dropped."""
        return Duration(checks.span(nanos, "Duration.of_nanos") // 1_000_000)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        """So many milliseconds."""
        return Duration(checks.span(millis, "Duration.of_millis"))

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        """So many seconds."""
        return Duration(checks.span(seconds, "Duration.of_seconds") * 1000)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        """So many minutes."""
        return Duration(checks.span(minutes, "Duration.of_minutes") * 60_000)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        """So many hours."""
        return Duration(checks.span(hours, "Duration.of_hours") * 3_600_000)

    @staticmethod
    def of_days(days: int) -> Duration:
        """So many days of 24 hours."""
        return Duration(checks.span(days, "Duration.of_days") * 86_400_000)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A moment: a plain value in records, for ``Types.INSTANT()``."""

    seconds: int  # since the epoch, rounded down
    nanos: int  # nanoseconds after that, less than a second

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        """The moment so many milliseconds after the epoch."""
        seconds, millis = divmod(checks.integer(epoch_milli, "Instant.of_epoch_milli", "milliseconds"), 1000)
        return Instant(seconds, millis * 1_000_000)

    def to_epoch_milli(self) -> int:
        """Whole milliseconds since the epoch."""
        return self.seconds * 1000 + self.nanos // 1_000_000

    @staticmethod
    def of_datetime(moment: datetime) -> Instant:
        """The moment of a datetime with a zone; InvalidProgramError without one."""
        if moment.utcoffset() is None:
            raise InvalidProgramError(
                f"{moment!r} has no time zone. Give it one, moment.replace(tzinfo=timezone.utc) say."
            )
        microseconds = (moment - _EPOCH) // timedelta(microseconds=1)
        return Instant(microseconds // 1_000_000, microseconds % 1_000_000 * 1000)

    def to_datetime(self, zone: tzinfo = timezone.utc) -> datetime:
        """The same as a datetime in a zone, cut to microseconds; OverflowError outside of the years 1 to 9999."""
        return (_EPOCH + timedelta(seconds=self.seconds, microseconds=self.nanos // 1000)).astimezone(zone)

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def instant_of_value(value: Instant | datetime) -> Instant:
    """A value of ``Types.INSTANT()`` as an Instant: it may be a datetime with a zone, too."""
    return Instant.of_datetime(value) if isinstance(value, datetime) else value


Span = Time | Duration | int
"""A span of time as the API takes it; a number is milliseconds."""


def milliseconds_of(span: Span, call: str, what: str) -> int:
    """The length of a span in milliseconds; a bare int is milliseconds."""
    if isinstance(span, Time):
        return span.milliseconds_
    if isinstance(span, Duration):
        return span.milliseconds
    if type(span) is int:
        return span
    raise InvalidProgramError(
        f"{call}() was given {checks.shown(span)} as {what}; a span of time is needed. Give Time.seconds(5), "
        "Duration.of_seconds(5), or milliseconds as a whole number."
    )
