"""Moments as numbers, datetimes and Instants."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from penstock.common.time import Instant

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def microseconds_of(moment: datetime) -> int:
    """Microseconds from the epoch to a timezone-aware moment."""
    return (moment - _EPOCH) // _MICROSECOND


def instant_of(ticks: int, per_second: int = 10**6) -> Instant:
    """The Instant so many ticks after the epoch."""
    seconds, rest = divmod(ticks, per_second)
    return Instant(seconds, rest * (10**9 // per_second))


def moment_of(ticks: int) -> datetime | Instant:
    """The datetime in UTC so many microseconds after the epoch, or an Instant if its year is not one of 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=ticks)
    except OverflowError:
        return instant_of(ticks)
